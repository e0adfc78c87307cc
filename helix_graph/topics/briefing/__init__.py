"""`brief`: what is known of a topic, in the order of how much it matters, without saying anything twice.

Five steps, a file each: `collect` the entries, `score` them, `compress` what repeats or follows up, put each into a
category (they were classified when they were stored), and give the answer (`brief`). Without a query `overview` tells
what the whole memory holds.
"""
