"""Writes cases of PyTorch's own test database as JSON: for samples of its ops in float64, the inputs y, the
arguments, the outputs o, and value, gradient, product and third derivative of L = sum w (sin o + o^2) along
v = cos(0), cos(1), ...: g = dL/dy, h = d(g v)/dy, t = d(h v)/dy. The first argument is the most cases an op has."""
import json
import sys
import types
import unittest
import warnings

warnings.filterwarnings('ignore')
stand_in = types.ModuleType('expecttest')  # which the database asks for and the cases do not need
stand_in.TestCase, stand_in.ACCEPT = unittest.TestCase, False
sys.modules.setdefault('expecttest', stand_in)
import torch
from torch.testing._internal.common_methods_invocations import op_db

torch.manual_seed(1)
torch.set_num_threads(1)


def encoded(a, inputs):
    if isinstance(a, torch.Tensor):
        if a.is_sparse or a.is_complex() or a.is_floating_point() and a.dtype != torch.float64:
            raise TypeError
        if a.dtype == torch.float64:
            inputs.append(a)
            return {'y': len(inputs) - 1, 'shape': list(a.shape)}
        return {'n': [float(x) for x in a.reshape(-1).tolist()], 'shape': list(a.shape), 'bool': a.dtype == torch.bool}
    if isinstance(a, (list, tuple)):
        return [encoded(x, inputs) for x in a]
    if a is None or isinstance(a, (bool, int, str)):
        return a
    if isinstance(a, float):
        return a if abs(a) < float('inf') else {'f': str(a)}
    if isinstance(a, slice):
        return {'slice': [a.start, a.stop, a.step]}
    if isinstance(a, complex):
        raise TypeError
    return {'other': str(a)}


def replaced(a, leaves):
    if isinstance(a, torch.Tensor):
        return next(leaves) if a.dtype == torch.float64 else a
    if isinstance(a, (list, tuple)):
        return type(a)(replaced(x, leaves) for x in a)
    return a


def case(op, sample):
    inputs = []
    c = {'op': op.name, 'variant': op.variant_test_name,
         'args': encoded([sample.input, *sample.args], inputs),
         'kw': {k: encoded(v, inputs) for k, v in sample.kwargs.items()}}
    if not inputs or not 0 < sum(x.numel() for x in inputs) <= 400:
        return None
    ys = [x.detach().clone().requires_grad_() for x in inputs]
    leaves = iter(ys)
    args = [replaced(a, leaves) for a in [sample.input, *sample.args]]
    out = op(*args, **{k: replaced(v, leaves) for k, v in sample.kwargs.items()})
    out = [x for x in ([out] if isinstance(out, torch.Tensor) else out)
           if isinstance(x, torch.Tensor) and x.dtype == torch.float64]
    o = torch.cat([x.reshape(-1) for x in out])
    if not 0 < o.numel() <= 1500:
        return None
    w = 1 + .1 * (torch.arange(o.numel(), dtype=torch.float64) % 7)

    def slope(f):
        if not f.requires_grad:
            return torch.zeros(sum(y.numel() for y in ys), dtype=torch.float64)
        by = torch.autograd.grad(f, ys, create_graph=True, allow_unused=True)
        return torch.cat([(torch.zeros_like(y) if b is None else b).reshape(-1) for y, b in zip(ys, by)])

    cost = (w * (torch.sin(o) + o**2)).sum()
    if not cost.requires_grad:
        return None
    g = slope(cost)
    v = torch.cos(torch.arange(g.numel(), dtype=torch.float64))
    h = slope((g * v).sum())
    t = slope((h * v).sum())
    c.update(y=[y.detach().reshape(-1).tolist() for y in ys], out=[list(x.shape) for x in out], o=o.tolist(),
             g=g.tolist(), h=h.tolist(), t=t.tolist())
    return c


for op in op_db:
    cases = []
    if op.supports_autograd and torch.float64 in op.dtypes:
        try:
            samples = list(op.sample_inputs('cpu', torch.float64, requires_grad=True))
        except Exception:  # of a library that is not there
            continue
        for s in samples:
            try:
                c = case(op, s)
            except Exception:  # no such order, or what JSON has not
                continue
            if c:
                cases.append(c)
    most = int(sys.argv[1])
    for i in range(min(len(cases), most)):
        c = cases[i * len(cases) // min(len(cases), most)]
        print(json.dumps(c).replace('-Infinity', 'null').replace('Infinity', 'null').replace('NaN', 'null'))
