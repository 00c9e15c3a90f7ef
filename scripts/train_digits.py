"""Train the network of `course_lib/models/digits.py`, and write its weights.

    python scripts/train_digits.py                     a quarter of a minute on one core
    python scripts/train_digits.py --images FILE       first take the images from scikit-learn's
                                                       digits.csv.gz

It starts from one seed, but sums of floats differ between processors and libraries, and so do the
weights at the end. Therefore the course ships weights, and counts integers.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from torch import nn

from course_lib.models.digits import IMAGES, WEIGHTS, Digits, accuracy, data

EPOCHS, BATCH, RATE = 60, 50, 3e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--images", help="digits.csv.gz: 64 pixels from 0 to 16 and the digit")
    options = parser.parse_args()
    if options.images:
        keep_images(options.images)
    model = train()
    state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    np.savez_compressed(WEIGHTS, allow_pickle=False, **state)
    print(f"{accuracy(lambda x: model(torch.from_numpy(x)).numpy()):.2%} of the test images")


def keep_images(path: str) -> None:
    table = np.loadtxt(path, delimiter=",").astype(np.uint8)
    images, labels = table[:, :-1].reshape(-1, 8, 8), table[:, -1]
    np.savez_compressed(IMAGES, allow_pickle=False, images=images, labels=labels)


def train() -> nn.Module:
    """Adam with a rate that falls as a cosine, on images shifted by up to one pixel."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    images, labels = map(torch.from_numpy, data("train"))
    model = Digits()
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(images)).split(BATCH):
            down, right = torch.randint(-1, 2, (2,)).tolist()
            x = images[chosen].roll((down, right), (2, 3))
            loss = nn.functional.cross_entropy(model(x), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return model.eval().requires_grad_(False)


if __name__ == "__main__":
    main()
