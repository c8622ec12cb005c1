#!/usr/bin/python3
"""Reference peer: losses that somebody would write by PyTorch, with their gradients and Hessian-vector products by double backward.

  /usr/bin/python3 ref_torch_outside.py --out testdata/outside.json                  # values of all, n = 6 and d = 3, in float64
  /usr/bin/python3 ref_torch_outside.py --time cox --n 4000 --d 20 --dtype f32       # medians in ms
"""
import argparse, json, math, os, time
os.environ.setdefault("OMP_NUM_THREADS", "1"); os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import torch
import torch.nn.functional as F

p = argparse.ArgumentParser(); a = p.add_argument
a("--time", default="")                  # a model
a("--n", type=int, default=6)
a("--d", type=int, default=3)
a("--dtype", choices=["f32", "f64"], default="f64")
a("--seconds", type=float, default=1)    # of each of two measurements
a("--out", default="")
o = p.parse_args()
torch.set_num_threads(1)
torch.set_default_dtype(torch.float32 if o.dtype == "f32" else torch.float64)
n, d, L = o.n, o.d, 8

def numbers(seed, *shape):
    k = torch.arange(math.prod(shape), dtype=torch.int64)
    return (((k * k * 31 + k * 7919 + seed * 104729) % 10007).double() / 10007 - .5).view(shape).to(torch.get_default_dtype())
step = lambda v: (v > -.1).to(v.dtype)
k = torch.arange(n)
def classes(c, more=0): return F.one_hot((5 * k // 3 + more) % c, c).to(torch.get_default_dtype())
def normal(h):
    c = h - h.mean(1, keepdim=True)
    return c * torch.rsqrt((c * c).mean(1, keepdim=True) + 1e-5)
def normal3(h): return normal(h.reshape(-1, d)).view(h.shape)
def attend(h, q, k, v, mask): return torch.softmax((h @ q.t()) @ (h @ k.t()).transpose(1, 2) / math.sqrt(d) + mask, 2) @ (h @ v.t())

models = {}
def model(name, *shapes):                # data: whatever make returns; its loss takes the parameters
    def add(make): models[name] = (shapes, make)
    return add

@model("gaussian mixture", (3,), (3, d), (3, d))
def _():
    x = numbers(1, n, d)
    return lambda s, m, l: torch.logsumexp(s, 0) - torch.logsumexp(s - l.sum(1) - .5 * (((x[:, None] - m) / l.exp()) ** 2).sum(2), 1).mean()
@model("cox", (d,))
def _():
    x, e = numbers(1, n, d), step(numbers(2, n))
    def loss(w): s = x @ w; return -(e * (s - torch.log(torch.cumsum(s.exp(), 0)))).mean()
    return loss
@model("cox with ties", (d,))
def _():
    x, e, g = numbers(1, n, d), step(numbers(2, n)), k // 3
    sums = lambda v: torch.zeros((n + 2) // 3).index_add(0, g, v)
    def loss(w): s = x @ w; return (torch.dot(sums(e), torch.log(torch.cumsum(sums(s.exp()), 0))) - torch.dot(e, s)) / n
    return loss
users, items = 5 + n // 20, 4 + n // 40
@model("matrix factorization", (users, d), (items, d), (users,), (items,))
def _():
    i, j, r = k % users, 7 * k % items, numbers(3, n)
    return lambda u, v, a, b: (((u[i] * v[j]).sum(1) + a[i] + b[j] - r) ** 2).mean() + .01 * sum((w * w).sum() for w in (u, v, a, b))
@model("infonce", (8, d))
def _():
    x, z = numbers(1, n, d), numbers(2, n, d)
    def loss(w):
        unit = lambda x: (lambda h: h * torch.rsqrt((h * h).sum(1, keepdim=True)))(torch.tanh(x @ w.t()))
        a, b = unit(x), unit(z)
        return (torch.logsumexp(2 * a @ b.t(), 1) - 2 * (a * b).sum(1)).mean()
    return loss
@model("causal attention", (d, d), (d, d), (d, d))
def _():
    h, mask = numbers(1, n, L, d), torch.triu(torch.full((L, L), -30.), 1)
    return lambda q, k, v: ((attend(h, q, k, v, mask) - h) ** 2).mean()
@model("vae", (8, d), (8,), (2, 8), (2, 8), (8, 2), (8,), (d, 8))
def _():
    x, e = numbers(1, n, d), numbers(2, n, 2)
    def loss(w, b, m, l, w2, b2, w3):
        h = torch.tanh(F.linear(x, w, b)); mu, s = h @ m.t(), h @ l.t()
        back = torch.tanh(F.linear(mu + s.exp() * e, w2, b2)) @ w3.t()
        return (((back - x) ** 2).sum() + .5 * (mu ** 2 + (2 * s).exp() - 2 * s).sum()) / n
    return loss
@model("ordinal", (d,), (1,), (2,))
def _():
    x, t = numbers(1, n, d), classes(4)
    def loss(w, first, gaps):
        below = torch.sigmoid(torch.cumsum(torch.cat([first, gaps.exp()]), 0) - (x @ w)[:, None])
        one = torch.ones(n, 1)
        return -(t * (torch.cat([below, one], 1) - torch.cat([0 * one, below], 1))).sum(1).log().mean()
    return loss
@model("quantiles", (8, d), (8,), (3, 8))
def _():
    x, t, tau = numbers(1, n, d), numbers(2, n, 1), torch.tensor([.1, .5, .9], dtype=torch.get_default_dtype())
    def loss(w, b, out): miss = t - torch.tanh(F.linear(x, w, b)) @ out.t(); return (tau * miss + .1 * F.softplus(-10 * miss, threshold=1e9)).mean(0).sum()
    return loss
@model("gaussian process", (d,), (1,), (1,))
def _():
    x, t = numbers(1, n, d), numbers(2, n)
    def loss(l, s, e):
        z = x * l.exp(); r = (z * z).sum(1)
        c = s.exp() * torch.exp(-.5 * (r[:, None] + r - 2 * z @ z.t())) + e.exp() * torch.eye(n)
        return .5 * (t @ torch.linalg.solve(c, t) + torch.logdet(c))
    return loss
class Digamma(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return torch.digamma(x)
    @staticmethod
    def backward(ctx, g): return g * torch.special.zeta(torch.tensor(2.), ctx.saved_tensors[0])
class Lgamma(torch.autograd.Function):       # PyTorch's own trigamma is off by 1e-10; its zeta is not
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return torch.lgamma(x)
    @staticmethod
    def backward(ctx, g): return g * Digamma.apply(ctx.saved_tensors[0])
lgamma = torch.lgamma if o.time else Lgamma.apply
@model("negative binomial", (d,), (1,))
def _():
    x, t = numbers(1, n, d), (k * 7 % 5).to(torch.get_default_dtype())
    def loss(w, s):
        m, r = x @ w, s.exp(); total = torch.log(r + m.exp())
        return -(lgamma(r + t) - lgamma(r) + s * r + t * m - (r + t) * total).mean()
    return loss
@model("probit", (d,))
def _():
    x, t = numbers(1, n, d), 2 * step(numbers(2, n)) - 1
    return lambda w: -torch.log(.5 * torch.erfc(-t * (x @ w) / math.sqrt(2))).mean()
@model("mixture density", (8, d), (8,), (9, 8), (9,))
def _():
    x, t = numbers(1, n, d), numbers(2, n, 1)
    def loss(w, b, out, bias):
        s, m, l = F.linear(torch.tanh(F.linear(x, w, b)), out, bias).chunk(3, 1)
        return (torch.logsumexp(s, 1) - torch.logsumexp(s - l - .5 * ((t - m) * torch.exp(-l)) ** 2, 1)).mean() + .5 * math.log(2 * math.pi)
    return loss
@model("transformer with padding", *[s for _ in range(2) for s in ((d, d), (d, d), (d, d), (2 * d, d), (d, 2 * d))], (d,))
def _():
    h0 = numbers(1, n, L, d)
    mask = -30. * (torch.arange(L) >= (3 + k % (L - 2))[:, None]).to(h0.dtype)[:, None, :]
    def loss(*w):
        h = h0
        for i in 0, 5:
            h = h + attend(normal3(h), w[i], w[i + 1], w[i + 2], mask)
            h = h + torch.tanh(normal3(h) @ w[i + 3].t()) @ w[i + 4].t()
        return F.softplus(h[:, 0] @ w[10], threshold=1e9).mean()
    return loss
e = torch.arange(3 * n); source, target = e % n, (e * 5 + e // n + 1) % n
@model("graphsage", (8, d), (8, d), (2, 8), (2, 8))
def _():
    x = numbers(1, n, d)
    def loss(a, b, c, f):
        near = lambda h: torch.zeros_like(h).index_add(0, target, h[source]) / 3
        layer = lambda h, own, others: torch.tanh(h @ own.t() + near(h) @ others.t())
        return (layer(layer(x, a, b), c, f) ** 2).mean()
    return loss
@model("graph network", (8, d), (3, 8))
def _():
    x = numbers(1, n, d)
    class Near(torch.autograd.Function):     # PyTorch has no double backward of sparse products: it is one itself
        @staticmethod
        def forward(ctx, h, m, t): ctx.m, ctx.t = m, t; return torch.sparse.mm(m, h)
        @staticmethod
        def backward(ctx, g): return Near.apply(g, ctx.t, ctx.m), None, None
    m = torch.sparse_coo_tensor(torch.stack([source, target]), torch.full((3 * n,), 1 / 3), (n, n)).coalesce()
    t = m.t().coalesce()
    return lambda w1, w2: torch.logsumexp(Near.apply(torch.tanh(Near.apply(x @ w1.t(), m, t)) @ w2.t(), m, t), 1).mean()
@model("neural ode", (8, d), (8,), (d, 8))
def _():
    x = numbers(1, n, d)
    def loss(w, b, back):
        f, h = lambda h: torch.tanh(F.linear(h, w, b)) @ back.t(), x
        for _ in range(10): h = h + .1 * f(h + .05 * f(h))
        return (h * h).mean()
    return loss
@model("preferences", (5, d))
def _():
    x, won, lost, ref = numbers(1, n, d), classes(5), classes(5, 1), numbers(4, n)
    def loss(w): l = torch.log_softmax(x @ w.t(), 1); return F.softplus(-.5 * ((l * won).sum(1) - (l * lost).sum(1) - ref), threshold=1e9).mean()
    return loss
@model("u-net", (d, 9), (d, 9 * d), (d, 4 * d), (2 * d,))
def _():
    x = numbers(1, n, 1, 2 * d, 2 * d)
    filters = lambda w, size, c: w.view(d, size, size, c).permute(0, 3, 1, 2)    # channels are last in ours
    def loss(a, b, u, last):
        wide = torch.tanh(F.conv2d(x, filters(a, 3, 1), padding=1))
        deep = torch.tanh(F.conv2d(F.avg_pool2d(wide, 2), filters(b, 3, d), padding=1))
        back = F.conv_transpose2d(deep, filters(u, 2, d), stride=2)
        return ((torch.einsum("nchw,c->nhw", torch.cat([wide, back], 1), last) - x[:, 0]) ** 2).mean()
    return loss
@model("hypernetwork", (8, 2), (8,), (d, 8))
def _():
    x, z, t = numbers(1, n, d), numbers(2, n, 2), numbers(3, n)
    return lambda w, b, out: (((x * (torch.tanh(F.linear(z, w, b)) @ out.t())).sum(1) - t) ** 2).mean()
@model("task weights", (8, d), (8,), (8,), (8,), (2,))
def _():
    x, t, c = numbers(1, n, d), numbers(2, n), 2 * step(numbers(3, n)) - 1
    def loss(w, b, first, second, s):
        h = torch.tanh(F.linear(x, w, b))
        return torch.exp(-s[0]) * ((h @ first - t) ** 2).mean() + torch.exp(-s[1]) * F.softplus(-c * (h @ second), threshold=1e9).mean() + s.sum()
    return loss
@model("physics-informed", (d, 1), (d,), (d,))
def _():
    t = numbers(1, n).requires_grad_()
    def loss(w, b, out):
        u = torch.tanh(F.linear(t[:, None], w, b)) @ out
        slope, = torch.autograd.grad(u.sum(), t, create_graph=True)
        bend, = torch.autograd.grad(slope.sum(), t, create_graph=True)
        return ((bend + u) ** 2).mean() + (torch.tanh(b) @ out - 1) ** 2
    return loss
@model("lstm", (4 * d, d), (4 * d, d), (4 * d,), (d,))
def _():
    x = numbers(1, n, L, d)
    def loss(w, u, b, out):
        h = c = torch.zeros(n, d)
        for row in x.unbind(1):
            i, f, g, q = (F.linear(row, w, b) + h @ u.t()).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(q) * torch.tanh(c)
        return F.softplus(h @ out, threshold=1e9).mean()
    return loss
@model("residual block", (2 * d, 2 * d), (2 * d, 2 * d))
def _():
    x, groups = numbers(1, n, 2 * d), lambda h: normal(h.reshape(2 * n, d)).view(n, 2 * d)
    return lambda a, b: torch.logsumexp(x + groups(torch.tanh(groups(x @ a.t())) @ b.t()), 1).mean()
@model("augmentation", (d,), (8, d), (8,), (3, 8))
def _():
    x, z, t = numbers(1, n, d), numbers(2, n, d), classes(3)
    def loss(s, w, b, out): h = torch.tanh(F.linear(x + z * s.exp(), w, b)) @ out.t(); return (torch.logsumexp(h, 1) - (t * h).sum(1)).mean()
    return loss

def questions(name):
    shapes, make = models[name]
    sizes, inner = [math.prod(s) for s in shapes], make()
    loss = lambda y: inner(*(w.view(s) for w, s in zip(torch.split(y, sizes), shapes)))
    y, v = (.8 * numbers(101, sum(sizes))).requires_grad_(), numbers(102, sum(sizes))
    def gradient(): return torch.autograd.grad(loss(y), y)[0]
    def product():
        g, = torch.autograd.grad(loss(y), y, create_graph=True)
        return torch.autograd.grad(g @ v, y)[0]
    return loss(y).item(), gradient, product

def ms(f):
    f(); times, end = [], time.perf_counter() + o.seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.process_time(); f(); times.append(1e3 * (time.process_time() - start))
    return sorted(times)[len(times) // 2]

if o.time:
    _, gradient, product = questions(o.time)
    text = json.dumps({"Gradient": ms(gradient), "Cold": ms(product), "Warm": 1})
else:
    result = {}
    for name in models:
        value, gradient, product = questions(name)
        result[name] = {"Value": value, "Gradient": gradient().tolist(), "HVP": product().tolist()}
    text = json.dumps(result).replace("}, ", "},\n")
if o.out: open(o.out, "w").write(text + "\n")
else: print(text)
