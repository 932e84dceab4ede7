"""What a fit chooses: ridge, weight of the unlabelled rows, number of directions."""
