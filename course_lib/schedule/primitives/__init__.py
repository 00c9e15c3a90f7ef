"""Loops -> loops. Each primitive changes the order of the work and never the values it combines.

    split.py        for i in 0..10 { .. i .. }
                    ==>  for io in 0..2 { for ii in 0..4 { .. 4*io + ii .. } }; for it in 8..10 ..
    reorder.py, interchange.py    for i { for j { .. } }    ==>  for j { for i { .. } }
    skew.py         for i { for j in 0..8 { .. j .. } }
                    ==>  for i { for j in i..i + 8 { .. j - i .. } }
    fuse.py         for io { for ii { .. 4*io + ii .. } }     ==>  for i { .. i .. }
    fission.py      for i { acc = 0; for k { acc += .. }; out[i] = acc }
                    ==>  for i { acc[i] = 0 }; for k { for i_2 { acc[i_2] += .. } }; for i_3 ..
    vectorize.py, parallelize.py, unroll.py, serial.py        how the iterations of a loop run
    stage.py        .. f(acc[i]) ..               ==>  stage[i] = acc[i]; .. f(stage[i]) ..
    compute_at.py   for i { t[i] = .. }; for j { .. t[j] .. }
                    ==>  for j { t[0] = .. j ..; .. t[0] .. }
    cache.py        for o { .. x[k, ii + 4*o] .. }
                    ==>  for o { tile[k, ii] = x[k, ii + 4*o]; .. tile[k, ii] .. }
    promote.py      for k { out[i] += .. }
                    ==>  acc = 0; for k { acc += .. }; out[i] += acc
    demote.py       acc = 0; for k { acc += .. }; out[i] = acc
                    ==>  out[i] = 0; for k { out[i] += .. }
    pad.py          local t: f32[7]               ==>  local t: f32[8]
    pack.py         w[16*oo + oi, k]              ==>  w[oo, k, oi]

A script of primitives finds a loop by its name: the verifier demands that a kernel gives each name
once, and `named_apart` calls a copy of the loop over i i_2. The first in the text keeps its name.
So what puts a copy in front of a loop renames the copy first (`others` of `named_apart` are names
that it may not have), and the loop and those inside keep theirs. What would change the meaning is
refused, by the dependences (`schedule/legality.py`). `at.py` has what they share.
"""
