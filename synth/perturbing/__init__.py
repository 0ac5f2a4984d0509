"""A test set asked again in other words: typing errors, word order, synonyms, case, paraphrase."""
