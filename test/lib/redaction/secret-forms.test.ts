import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { redactSecrets } from '../../../src/lib/redaction/redact.js'

const PIPELINES = 'test/cases/pipelines'
/** Assembled here, so that no scanner takes this file for one with secrets. */
const BODY = 'aB3dE5gH7jK9'.repeat(6)
const HEX = '0a1b2c3d'.repeat(8)

const shown = (value: unknown): string => redactSecrets(Buffer.from(JSON.stringify(value))).text.toString()

describe('a token is redacted by its form', () => {
  test.each([
    ...['pat', 'rt', 'dt', 'cbt', 'ptt', 'ft', 'soat'].map((kind) => ['gl', kind, '-', BODY]),
    ['py', 'pi-', BODY],
    ['S', 'G.', BODY.slice(0, 22), '.', BODY.slice(0, 43)],
    ['ya', '29.', BODY],
    ['GOC', 'SPX-', BODY.slice(0, 28)],
    ['AI', 'za', BODY.slice(0, 35)],
    ...['dop', 'doo', 'dor'].map((kind) => [kind, '_v1_', HEX]),
    ['AGE-', 'SECRET-KEY-1', BODY.slice(0, 58).toUpperCase()],
  ])('%s%s…', (...parts) => {
    const token = parts.join('')
    for (const value of [{ note: token }, { note: `use ${token} here` }, [{ a: [token] }]])
      expect(shown(value)).not.toContain(token)
    expect(shown({ note: JSON.stringify({ note: token }) })).not.toContain(token)
  })
})

test('a private key of PGP is redacted', () => {
  const block = ['-----BEGIN PGP PRIVATE', ' KEY BLOCK-----\n\n', BODY, '\n-----END'].join('')
  expect(shown({ note: block })).not.toContain(BODY)
})

test.each(['accountKey', 'account_key', 'ADMIN_PW', 'admin-pw', 'DB_PW'])(
  'a member %s is redacted',
  (name) => {
    expect(shown({ [name]: 'opensesame' })).not.toContain('opensesame')
  },
)

test.each(readdirSync(PIPELINES))('the pipeline %s of the tests stays as it is', (file) => {
  const json = readFileSync(join(PIPELINES, file))
  expect(redactSecrets(json).names.filter((name) => name === '(token)' || /pw|account/i.test(name))).toEqual(
    [],
  )
})
