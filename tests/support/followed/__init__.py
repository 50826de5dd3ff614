"""Uses of a copy of the checkout in which a page's examples were followed: run there, they print JSON."""
