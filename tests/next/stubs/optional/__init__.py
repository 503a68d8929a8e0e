"""The words of the optional rooms that the kit's workflows name, without what they do."""
