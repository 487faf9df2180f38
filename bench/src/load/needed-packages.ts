interface Span {
  readonly rampMs: number
  readonly measureMs: number
}

/** Margin for a run that is faster than the warm-up. */
const SPARE_SHARE = 1.5
/** Margin for requests in flight at the end. */
const SPARE_PACKAGES = 128
/** A Poisson count exceeds its mean by more than six standard deviations in one of a thousand million runs. */
const DEVIATIONS = 6

/** Packages for a run of this length that may be about as fast as this. */
export function enoughFor(perSecond: number, { rampMs, measureMs }: Span): number {
  return Math.ceil(((rampMs + measureMs) / 1_000) * perSecond * SPARE_SHARE) + SPARE_PACKAGES
}

/** Packages for a Poisson process of this rate and length. */
export function enoughForPoisson(perSecond: number, { rampMs, measureMs }: Span): number {
  const mean = ((rampMs + measureMs) / 1_000) * perSecond
  return Math.ceil(mean + DEVIATIONS * Math.sqrt(mean))
}
