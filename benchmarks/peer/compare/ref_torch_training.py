#!/usr/bin/python3
"""Reference peer: networks in float32, by PyTorch's Adam on batches of 128, the last one shorter. Five epochs.

  /usr/bin/python3 ref_torch_training.py --mnist FOLDER [--net NAME]

dense is 784-256-10 with ReLU on MNIST, convolutions are for images like CIFAR's, and transformer has two blocks for 32 rows of 64
numbers; the last two have drawn examples, the same to train and to test.
"""
import argparse, gzip, json, os, time
os.environ.setdefault("OMP_NUM_THREADS", "1"); os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np, torch
import torch.nn as nn, torch.nn.functional as F

p = argparse.ArgumentParser(); a = p.add_argument
a("--mnist", required=True)
a("--net", default="dense", choices=["dense", "convolutions", "transformer"])
a("--epochs", type=int, default=5)
a("--out", default="")
o = p.parse_args()
torch.set_num_threads(1); torch.manual_seed(1)

def idx(name, skip): return np.frombuffer(gzip.open(os.path.join(o.mnist, name + ".gz")).read(), np.uint8, offset=skip)
def part(name):
    pixels = idx(name + "-images-idx3-ubyte", 16).reshape(-1, 784).astype(np.float32) / 255
    return torch.from_numpy(pixels), torch.from_numpy(idx(name + "-labels-idx1-ubyte", 8).astype(np.int64))
def drawn(*shape): X = torch.randn(2048, *shape); T = torch.arange(2048) % 10; return X, T, X, T
if o.net == "dense":
    X, T, testX, testT = *part("train"), *part("t10k")
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
elif o.net == "convolutions":
    X, T, testX, testT = drawn(3, 32, 32)
    net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4096, 128), nn.ReLU(), nn.Linear(128, 10))
else:
    X, T, testX, testT = drawn(32, 64)
    block = lambda: nn.TransformerEncoderLayer(64, 4, 256, dropout=0, activation="gelu", batch_first=True, norm_first=True)
    net = nn.Sequential(block(), block(), nn.Flatten(), nn.Linear(2048, 10))
adam, times = torch.optim.Adam(net.parameters()), []
for _ in range(o.epochs):
    start = time.perf_counter()
    for rows in torch.randperm(len(X)).split(128):
        adam.zero_grad(); F.cross_entropy(net(X[rows]), T[rows]).backward(); adam.step()
    times.append(time.perf_counter() - start)
with torch.no_grad(): right = (net(testX).argmax(1) == testT).float().mean().item()
text = json.dumps({"Seconds": sorted(times)[len(times) // 2], "Accuracy": right})
if o.out: open(o.out, "w").write(text)
else: print(text)
