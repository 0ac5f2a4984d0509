"""How likely a language model finds a text: from a server that echoes what it is given, or a model of this machine."""
