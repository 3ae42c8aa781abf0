import { describe, expect, test } from 'vitest'
import { AppError } from '../../../src/errors/app-error.js'
import { loadConfig } from '../../../src/config/load-config.js'

const HASH = 'ab'.repeat(32)
const TOKENS = [{ name: 'ana', roles: ['approver'], groups: ['leads'], sha256: HASH }]

function problemsOf(approvers: object, tokens: readonly object[]): readonly string[] {
  const env = {
    TIDEGATE_AUTH_TOKENS: JSON.stringify(tokens),
    TIDEGATE_GATES_DEFINITIONS: JSON.stringify([{ id: 7, name: 'Release', approvers }]),
  }
  try {
    loadConfig({ env })
    return []
  } catch (raw) {
    if (raw instanceof AppError) return raw.details.map(({ code, message }) => `${code}: ${message}`)
    throw raw
  }
}

describe('the approvers of a configured gate', () => {
  test('may be the names and groups of tokens', () => {
    expect(problemsOf({ users: ['ana'], groups: ['leads'] }, TOKENS)).toEqual([])
  })

  test('are all reported when no token has their name or group', () => {
    expect(problemsOf({ users: ['anna'], groups: ['lead'] }, TOKENS)).toEqual([
      expect.stringMatching(
        /^unknown_approver: gates\.definitions: .*user anna of Release, group lead of Release/,
      ),
    ])
  })

  test('may be any names while there are no tokens', () => {
    expect(problemsOf({ users: ['anna'] }, [])).toEqual([])
  })
})
