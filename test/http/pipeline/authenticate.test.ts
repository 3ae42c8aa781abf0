import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'

import type { Role } from '../../../src/config/sections/roles.js'
import { makeAuthenticate } from '../../../src/http/pipeline/authenticate.js'
import { FakeExchange } from '../../support/fake-exchange.js'
import type { ClientCertificate } from '../../../src/http/exchange/client-certificate.js'

const ana = {
  name: 'ana',
  roles: ['approver'] as const,
  sha256: createHash('sha256').update('token-of-ana').digest('hex'),
}

async function outcomeOf(
  openToOrchestrator: boolean,
  roles: readonly Role[],
  authorization?: string,
): Promise<string> {
  const authenticate = makeAuthenticate({ tokens: [ana], openToOrchestrator })
  const exchange = new FakeExchange({ headers: { ...(authorization !== undefined && { authorization }) } })
  try {
    await authenticate(exchange, roles)
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
  ] as const)(
    'where the service is open to the orchestrator (%j), for %j: %s',
    async (open, roles, outcome) => {
      expect(await outcomeOf(open, roles)).toBe(outcome)
    },
  )
})

describe('a request with a token, where the service is open to the orchestrator', () => {
  test.each([
    ['Bearer token-of-ana', 'approver', 'let in as ana'],
    ['Bearer token-of-ana', 'orchestrator', 'forbidden'],
    ['Bearer wrong', 'orchestrator', 'unauthenticated'],
    ['Basic eDp5', 'orchestrator', 'unauthenticated'],
  ] as const)('%s for the role %s: %s', async (authorization, role, outcome) => {
    expect(await outcomeOf(true, [role], authorization)).toBe(outcome)
  })
})

const HOUR_MS = 3_600_000
const roles = ['orchestrator'] as const
const certificates = [
  { name: 'echo', roles, subject: 'CN=echo, O=Example' },
  { name: 'named', roles, san: 'DNS:named.example.org' },
  { name: 'both', roles, subject: 'CN=both', san: 'DNS:both.example.org' },
]
const good: ClientCertificate = {
  problem: undefined,
  subject: {},
  alternativeNames: [],
  endsAtMs: Date.now() + HOUR_MS,
}

async function certificateOutcome(
  clientCertificate: ClientCertificate | undefined,
  { openToOrchestrator = false, role = 'orchestrator' }: { openToOrchestrator?: boolean; role?: Role } = {},
): Promise<string> {
  const authenticate = makeAuthenticate({ tokens: [], certificates, openToOrchestrator })
  const exchange = new FakeExchange({})
  Object.defineProperty(exchange, 'clientCertificate', { value: clientCertificate })
  try {
    await authenticate(exchange, [role])
    return `let in as ${exchange.caller.tokenName ?? 'nobody'}`
  } catch (raw) {
    return (raw as Error).message
  }
}

describe('a caller with a client certificate', () => {
  test.each<[string, Partial<ClientCertificate>, string]>([
    ['the whole subject', { subject: { O: ['Example'], CN: ['echo'] } }, 'let in as echo'],
    [
      'a part too many',
      { subject: { CN: ['echo'], O: ['Example'], C: ['NO'] } },
      'is not listed in auth.certificates',
    ],
    [
      'a second name before the right one',
      { subject: { CN: ['evil', 'echo'], O: ['Example'] } },
      'is not listed in auth.certificates',
    ],
    [
      'a second name after the right one',
      { subject: { CN: ['echo', 'evil'], O: ['Example'] } },
      'is not listed in auth.certificates',
    ],
    [
      'the right name twice',
      { subject: { CN: ['echo', 'echo'], O: ['Example'] } },
      'is not listed in auth.certificates',
    ],
    [
      'a second name and the right alternative name',
      { subject: { CN: ['evil', 'both'] }, alternativeNames: ['DNS:both.example.org'] },
      'is not listed in auth.certificates',
    ],
    ['an alternative name', { alternativeNames: ['DNS:x', 'DNS:named.example.org'] }, 'let in as named'],
    [
      'a subject and a name',
      { subject: { CN: ['both'] }, alternativeNames: ['DNS:both.example.org'] },
      'let in as both',
    ],
    ['a part too few', { subject: { CN: ['echo'] } }, 'CN=echo is not listed in auth.certificates'],
    [
      'a name of another kind',
      { alternativeNames: ['URI:named.example.org'] },
      'is not listed in auth.certificates',
    ],
    ['another case', { subject: { CN: ['Echo'], O: ['Example'] } }, 'is not listed in auth.certificates'],
    ['one of two that are wanted', { subject: { CN: ['both'] } }, 'is not listed in auth.certificates'],
    ['nothing', {}, 'is not listed in auth.certificates'],
    [
      'no signature that counts',
      { subject: { CN: ['echo'], O: ['Example'] }, problem: 'SELF_SIGNED' },
      'is not trusted (SELF_SIGNED)',
    ],
    [
      'an end that has come',
      { subject: { CN: ['echo'], O: ['Example'] }, endsAtMs: Date.now() - 1 },
      'has expired',
    ],
    [
      'an end that cannot be read',
      { subject: { CN: ['echo'], O: ['Example'] }, endsAtMs: NaN },
      'has expired',
    ],
  ])('that has %s', async (_, certificate, outcome) => {
    expect(await certificateOutcome({ ...good, ...certificate })).toContain(outcome)
  })

  test('may do what its entry says, and is told by name where it may not', async () => {
    const certificate = { ...good, subject: { CN: ['echo'], O: ['Example'] } }
    expect(await certificateOutcome(certificate, { role: 'auditor' })).toContain(
      'certificate echo requires the role',
    )
  })

  test('that is wrong is refused where none is needed, too', async () => {
    expect(await certificateOutcome(undefined, { openToOrchestrator: true })).toBe('let in as nobody')
    expect(await certificateOutcome({ ...good, problem: 'EXPIRED' }, { openToOrchestrator: true })).toContain(
      'is not trusted',
    )
  })
})

test('a caller without token and certificate is told of both', async () => {
  expect(await certificateOutcome(undefined)).toContain(
    'or present a client certificate of auth.certificates',
  )
})
