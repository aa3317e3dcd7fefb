"""Learning maths as pure functions: tensors in, tensors out; no object, no logging, no device.

returns.py  V-trace (Espeholt et al. 2018), TD(lambda) targets (Sutton 1988), UPGO (Vinyals et al.
            2019)
heads.py    distributions over factorised action heads with masks and sub-action masks
losses.py   policy gradient, value, entropy, KL to a reference, label-smoothed imitation

Time comes first: [T, B]. Several matches may follow each other in one trace: `terminated` cuts
without a bootstrap, `truncated` cuts and bootstraps from `next_values`.
"""
