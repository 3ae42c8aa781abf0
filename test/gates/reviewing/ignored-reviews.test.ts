import { expect, test } from 'vitest'

import { IgnoredReviews } from '../../../src/gates/reviewing/ignored-reviews.js'

const TEN_MINUTES = 600_000

test('of reviews that are repeated, the first is written, and the next tells how many were not', () => {
  const reviews = new IgnoredReviews()
  expect(reviews.take(1, TEN_MINUTES)).toBe(0)
  for (let time = 0; time < 2000; time++) expect(reviews.take(1, TEN_MINUTES + time)).toBeUndefined()
  expect(reviews.take(2, TEN_MINUTES + 3000)).toBe(2000)
  expect(reviews.take(1, 2 * TEN_MINUTES)).toBe(0)
})

test('of reviews of ever other instances, twenty in ten minutes are written', () => {
  const reviews = new IgnoredReviews()
  const written = Array.from({ length: 1000 }, (_, id) => reviews.take(id, TEN_MINUTES)).filter(
    (unrecorded) => unrecorded !== undefined,
  )
  expect(written).toHaveLength(20)
  expect(reviews.take(5000, 2 * TEN_MINUTES)).toBe(980)
})
