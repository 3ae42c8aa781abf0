import { z } from 'zod'

import { wholeNumberKey } from '../values/key.js'

const MAX_SHARE = 99
const MAX_MINUTES = 10_080
const MAX_COUNT = 1_000_000_000

/** How new policies begin to serve. */
export const StagedSection = z.strictObject({
  sharePercent: wholeNumberKey(
    { min: 0, max: MAX_SHARE, default: 0 },
    'Percentage of requests that new policies of sources, files or pins answer first, chosen by application. Afterwards they serve, or are taken back. With 0 they serve immediately. Needs `decisions.enabled`, because stored decisions are compared.',
  ),
  minutes: wholeNumberKey(
    { min: 0, max: MAX_MINUTES, default: 10 },
    'Shortest time before new policies answer all requests, in minutes.',
  ),
  decisions: wholeNumberKey(
    { min: 0, max: MAX_COUNT, default: 0 },
    'Smallest number of decisions that are compared with the previous policies before new ones answer all requests.',
  ),
  maxErrors: wholeNumberKey(
    { min: 0, max: MAX_COUNT, default: 0 },
    'New policies are taken back after more decisions that they alone cannot evaluate.',
  ),
  maxFlips: wholeNumberKey(
    { min: 0, max: MAX_COUNT, default: 0 },
    'New policies are taken back after more decisions that they answer differently. Changed warnings do not count.',
  ),
})
