import { describe, expect, test } from 'vitest'

import { fillPath } from '../../../../src/analysis/sources/templates/fill-path.js'
import { problemsOf } from '../../../support/problems-of.js'

describe('the path of a file', () => {
  test('has names of the scope in it, and a column after #', () => {
    expect(fillPath('${app}/latency-${pod}.csv#p${q}', { app: 'shop', pod: 'web-1', q: '99' })).toEqual({
      path: 'shop/latency-web-1.csv',
      column: 'p99',
    })
    expect(fillPath('a.log', {})).toEqual({ path: 'a.log', column: undefined })
  })

  test.each(['..', '.', 'a/b', '../a', 'a\\b', 'a\0', '\n'])(
    'takes no value that leads elsewhere: %j',
    (app) => {
      expect(problemsOf(() => fillPath('${app}/a.csv', { app }))).toEqual([
        expect.stringContaining('a name without "/"'),
      ])
    },
  )

  test('takes no # of a value for the start of a column', () => {
    expect(fillPath('${app}.csv', { app: 'a#b' })).toEqual({ path: 'a#b.csv', column: undefined })
  })
})
