"""Choice of alpha, of the ridge and of the number of components."""
