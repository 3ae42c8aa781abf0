import { createHash } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { makeAuthenticate } from '../../../src/http/pipeline/authenticate.js'
import type { TokenRecord } from '../../../src/http/pipeline/authenticate.js'
import { BrowserAccess } from '../../../src/http/sessions/browser-access.js'
import { MemorySessions } from '../../../src/http/sessions/memory-sessions.js'
import type { BrowserSessions } from '../../../src/store/ports/browser-sessions.js'
import { FakeExchange } from '../../support/fake-exchange.js'

const host = 'localhost:8181'

const tokenOf = (name: string, text: string): TokenRecord => ({
  ...{ name, roles: ['approver'] },
  sha256: createHash('sha256').update(text).digest('hex'),
})

/** Browser access for a service with these tokens, over sessions that may outlast it. */
function accessWith(tokens: readonly TokenRecord[], sessions: BrowserSessions): BrowserAccess {
  return new BrowserAccess({
    ...{ tokens, sessions, requiresCredentials: true, isSecure: false, formToken: 'of all' },
    isKnownOtherwise: () => false,
    authenticate: makeAuthenticate({ tokens, openToOrchestrator: false }),
  })
}

async function whoIs(access: BrowserAccess, cookie: string): Promise<string> {
  const exchange = new FakeExchange({ headers: { host, cookie: cookie.split(';')[0] ?? '' } })
  await access.authenticate(exchange, ['approver'])
  return exchange.caller.tokenName ?? 'nobody'
}

describe('a session', () => {
  it('ends when its token is replaced by another of the same name, or removed, and lasts over any other change', async () => {
    const sessions = new MemorySessions(() => 0)
    const before = accessWith([tokenOf('ana', 'leaked'), tokenOf('bo', 'other')], sessions)
    const cookie = await before.signIn(new FakeExchange({ headers: { host } }), 'leaked')
    expect(await whoIs(before, cookie)).toBe('ana')
    const sameToken = { ...tokenOf('ana', 'leaked'), roles: ['approver', 'auditor'] as const }
    expect(await whoIs(accessWith([sameToken], sessions), cookie)).toBe('ana')
    const replaced = accessWith([tokenOf('ana', 'new'), tokenOf('bo', 'other')], sessions)
    await expect(whoIs(replaced, cookie)).rejects.toMatchObject({ kind: 'unauthenticated' })
    const removed = accessWith([tokenOf('bo', 'other')], sessions)
    await expect(whoIs(removed, cookie)).rejects.toMatchObject({ kind: 'unauthenticated' })
  })
})
