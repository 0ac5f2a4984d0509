"""What files of other tools look like: queries, documents and answers, a module a layout."""
