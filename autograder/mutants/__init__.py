"""Wrong answers that the checks must reject, right ones that they must accept. They never ship."""
