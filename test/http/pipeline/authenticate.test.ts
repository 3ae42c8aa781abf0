import { createHash } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import type { Role } from '../../../src/config/sections/auth.js'
import { makeAuthenticate } from '../../../src/http/pipeline/authenticate.js'
import { FakeExchange } from '../../support/fake-exchange.js'

const ana = {
  name: 'ana',
  roles: ['approver'] as const,
  sha256: createHash('sha256').update('token-of-ana').digest('hex'),
}

function outcomeOf(openToOrchestrator: boolean, roles: readonly Role[], authorization?: string): string {
  const authenticate = makeAuthenticate({ tokens: [ana], openToOrchestrator })
  const exchange = new FakeExchange({ headers: { ...(authorization !== undefined && { authorization }) } })
  try {
    authenticate(exchange, roles)
    return `let in as ${exchange.caller.tokenName ?? 'nobody'}`
  } catch (raw) {
    return (raw as { kind: string }).kind
  }
}

describe('a request without a token', () => {
  test.each([
    [false, ['orchestrator'], 'unauthenticated'],
    [true, ['orchestrator'], 'let in as nobody'],
    [true, ['orchestrator', 'auditor'], 'let in as nobody'],
    [true, ['approver'], 'unauthenticated'],
    [true, ['auditor'], 'unauthenticated'],
    [true, [], 'unauthenticated'],
  ] as const)('where the service is open to the orchestrator (%j), for %j: %s', (open, roles, outcome) => {
    expect(outcomeOf(open, roles)).toBe(outcome)
  })
})

describe('a request with a token, where the service is open to the orchestrator', () => {
  test.each([
    ['Bearer token-of-ana', 'approver', 'let in as ana'],
    ['Bearer token-of-ana', 'orchestrator', 'forbidden'],
    ['Bearer wrong', 'orchestrator', 'unauthenticated'],
    ['Basic eDp5', 'orchestrator', 'unauthenticated'],
  ] as const)('%s for the role %s: %s', (authorization, role, outcome) => {
    expect(outcomeOf(true, [role], authorization)).toBe(outcome)
  })
})
