"""Evidence: where in the documents' text the answer to a query stands, whatever the passages are."""
