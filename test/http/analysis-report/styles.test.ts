import { expect, test } from 'vitest'

import { REPORT_STYLES } from '../../../src/http/analysis-report/styles.js'

test('what is large on paper is large by the one size that printing sets', () => {
  const print = REPORT_STYLES.slice(REPORT_STYLES.indexOf('@media print'))
  expect(print).toMatch(/:root \{ font-size: \d+px; \} body \{[^}]*font-size: 1rem;/)
  expect(REPORT_STYLES).not.toMatch(/@media \(prefers-color-scheme/)
})

test('a reason without a place to break, such as a query, stays within its card', () => {
  expect(REPORT_STYLES).toMatch(/\.verdict div \{[^}]*min-width: 0; overflow-wrap: anywhere;/)
})
