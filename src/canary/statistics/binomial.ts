import { betaDistribution, betaQuantile, betaUpperTail } from './beta.js'

/** A range that holds the true value with the given confidence. */
export interface Interval {
  readonly lower: number
  readonly upper: number
}

/** P(X >= successes) for X ~ Binomial(trials, probability), exact. */
export function binomialUpperTail(successes: number, trials: number, probability: number): number {
  if (successes <= 0) return 1
  if (successes > trials) return 0
  return betaDistribution(probability, successes, trials - successes + 1)
}

/** P(X <= successes) for X ~ Binomial(trials, probability), exact. */
export function binomialLowerTail(successes: number, trials: number, probability: number): number {
  if (successes < 0) return 0
  if (successes >= trials) return 1
  return betaUpperTail(probability, successes + 1, trials - successes)
}

/** The exact two-sided interval of Clopper and Pearson for the probability of a success. */
export function clopperPearson(successes: number, trials: number, confidence: number): Interval {
  const outside = (1 - confidence) / 2
  return {
    lower: successes <= 0 ? 0 : betaQuantile(outside, successes, trials - successes + 1),
    upper: successes >= trials ? 1 : betaQuantile(1 - outside, successes + 1, trials - successes),
  }
}
