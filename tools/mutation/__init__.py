"""Small changes of the source, which the tests must notice."""
