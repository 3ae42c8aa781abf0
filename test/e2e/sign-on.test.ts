import { describe, expect, test } from 'vitest'

import { Browser } from '../support/browser.js'
import { ask, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { AUDIENCE, START, encoded, useSignOnService } from '../support/sign-on-service.js'
import { formTokenIn } from '../support/page-service.js'

const { tidegate, provider, signedIn, returnAddress, triggerGate } = useSignOnService()

describe('signing in at an identity provider', () => {
  test('is offered on the sign-in page, next to tokens', async () => {
    const page = await new Browser(tidegate().url).get('/ui')
    expect([page.status, page.text]).toEqual([401, expect.stringContaining('Sign in with Example Login')])
    expect(page.text).toContain('type="password"')
  })

  test('leads back to the page that was wanted, with the name and a session that scripts cannot read', async () => {
    const browser = new Browser(tidegate().url)
    const page = await browser.get(START)
    expect([page.status, new URL(page.url).pathname + new URL(page.url).search]).toEqual([
      200,
      '/ui/approvals?status=all',
    ])
    expect(page.text).toContain('ana@example.org')
    expect(browser.cookieNames()).toEqual(['tidegate_session'])
  })

  test('sends PKCE, state and nonce, and keeps them in a cookie for ten minutes', async () => {
    const away = await new Browser(tidegate().url).step(START)
    const query = new URL(away.headers.location ?? '').searchParams
    expect(query.get('code_challenge_method')).toBe('S256')
    for (const name of ['code_challenge', 'state', 'nonce']) expect(query.get(name)).toMatch(/^[\w-]{43}$/)
    expect(away.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^tidegate_departure_[0-9a-f]{16}=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
      ),
    ])
  })

  test('works in two tabs at the same time', async () => {
    const browser = new Browser(tidegate().url)
    const [first, second] = [await browser.step(START), await browser.step(START)]
    expect((await browser.get(second.headers.location ?? '')).status).toBe(200)
    expect((await browser.get(first.headers.location ?? '')).status).toBe(200)
  })

  test('is refused in another browser than the one that began', async () => {
    const away = await new Browser(tidegate().url).step(START)
    const other = await new Browser(tidegate().url).get(away.headers.location ?? '')
    expect([other.status, other.text]).toEqual([403, expect.stringContaining('began in another browser')])
  })

  test('is refused for an answer whose state belongs to another sign-in', async () => {
    const browser = new Browser(tidegate().url)
    await browser.step(START)
    const answer = await browser.get('/ui/sign-in/callback?code=x&state=made-up')
    expect(answer.status).toBe(403)
    expect(browser.cookieNames()).not.toContain('tidegate_session')
  })

  test('accepts an answer only once', async () => {
    const browser = new Browser(tidegate().url)
    const target = await returnAddress(browser)
    expect((await browser.step(target)).status).toBe(303)
    expect((await browser.step(target)).status).toBe(403)
  })

  test('is refused for the code of another sign-in, and for a code that was used', async () => {
    const browser = new Browser(tidegate().url)
    const [first, second] = [await returnAddress(browser), await returnAddress(browser)]
    const mixed = new URL(second)
    mixed.searchParams.set('code', new URL(first).searchParams.get('code') ?? '')
    const answer = await browser.get(mixed.href)
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('invalid_grant')])
    const third = new URL(await returnAddress(browser))
    const used = third.searchParams.get('code') ?? ''
    expect((await browser.step(third.href)).status).toBe(303)
    const fourth = new URL(await returnAddress(browser))
    fourth.searchParams.set('code', used)
    expect((await browser.get(fourth.href)).status).toBe(403)
  })

  test('names the error of the provider', async () => {
    const browser = new Browser(tidegate().url)
    const away = await browser.step(START)
    const state = new URL(away.headers.location ?? '').searchParams.get('state') ?? ''
    const iss = encodeURIComponent(provider().issuer)
    const answer = await browser.get(`/ui/sign-in/callback?error=access_denied&state=${state}&iss=${iss}`)
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('access_denied')])
  })

  test.each(['https://evil.example/', '//evil.example', '/analysis', '/ui/../../x'])(
    'never leads to another site or to an address that is no page: %s',
    async (next) => {
      const page = await new Browser(tidegate().url).get(`/ui/sign-in/start?next=${encodeURIComponent(next)}`)
      expect(new URL(page.url).href).toBe(`${tidegate().url}/ui`)
    },
  )
})

describe('an account', () => {
  test('without a role for its groups gets no session, and is told why', async () => {
    provider().user = 'taken@example.org'
    const browser = new Browser(tidegate().url)
    const page = await browser.get(START)
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('name of a token or certificate')])
    expect(browser.cookieNames()).not.toContain('tidegate_session')
  })

  test('whose address the provider has not verified gets no session', async () => {
    provider().people.set('ana@example.org', { groups: [], verified: false })
    const page = await new Browser(tidegate().url).get(START)
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('has not verified the address')])
  })

  test('reviews a gate as a member of its group, after the stronger sign-in that reviews require', async () => {
    const id = await triggerGate('approved-by-account')
    const browser = await signedIn()
    const page = `/ui/approvals/${id}`
    const decide = async (): Promise<Answered> => {
      const formToken = formTokenIn(await browser.get(page))
      return browser.post(page, { formToken, action: 'approve', comment: 'as tested' })
    }
    const refused = await decide()
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('stronger sign-in')])
    expect(
      (await browser.get(`/ui/sign-in/start?approval=yes&next=${encodeURIComponent(page)}`)).status,
    ).toBe(200)
    expect((await decide()).status).toBe(303)
    expect((await browser.get(page)).text).toContain('ana@example.org')
  })

  test('loses its role when its groups change at the provider', async () => {
    const browser = await signedIn()
    const id = await triggerGate('groups-changed')
    provider().people.set('ana@example.org', { groups: ['staff'] })
    const page = await browser.get(`/ui/approvals/${id}`)
    const answer = await browser.post(`/ui/approvals/${id}`, {
      formToken: formTokenIn(page),
      action: 'approve',
      comment: '',
    })
    expect(answer.status).toBe(403)
  })

  test('that the provider ended must sign in again', async () => {
    const browser = await signedIn()
    provider().people.delete('ana@example.org')
    expect((await browser.get('/ui')).status).toBe(401)
    expect((await browser.get('/ui')).status).toBe(401)
  })

  test('continues while the provider is away, and nobody else can sign in', async () => {
    const [browser, late] = [await signedIn(), new Browser(tidegate().url)]
    const lateReturn = await returnAddress(late)
    provider().away.isAway = true
    expect((await browser.get('/ui')).status).toBe(200)
    const other = await late.step(lateReturn)
    expect([other.status, other.text]).toEqual([503, expect.stringContaining('does not answer')])
  })

  test('whose provider ignores the stronger sign-in that was asked for may not review', async () => {
    const page = `/ui/approvals/${await triggerGate('weak')}`
    provider().namesAcr = false
    const browser = new Browser(tidegate().url)
    const shown = await browser.get(`/ui/sign-in/start?approval=yes&next=${encodeURIComponent(page)}`)
    const refused = await browser.post(page, { formToken: formTokenIn(shown), action: 'approve' })
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('stronger sign-in')])
  })
})

describe('an access token of the provider', () => {
  const decide = (bearer: string): Promise<Answered> =>
    postJson(tidegate().url, '/v1/data/a/allow', { input: {} }, { authorization: `Bearer ${bearer}` })

  test('for this service is a caller with the roles of its groups', async () => {
    const answer = await ask(tidegate().url, {
      path: '/decisions',
      headers: { authorization: `Bearer ${await provider().accessToken(AUDIENCE)}` },
    })
    expect(answer.status).toBe(200)
  })

  test('without the role of an operation is refused', async () => {
    expect((await decide(await provider().accessToken(AUDIENCE))).status).toBe(403)
  })

  test('for another audience is no credential', async () => {
    const answer = await ask(tidegate().url, {
      path: '/decisions',
      headers: { authorization: `Bearer ${await provider().accessToken('https://other.example.org')}` },
    })
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining('aud')])
  })

  test.each([
    ['without a signature', (head: string, body: string) => `${head}.${body}.x`],
    ['with alg none', (_: string, body: string) => `${encoded({ alg: 'none' })}.${body}.x`],
    ['signed with a shared secret', (_: string, body: string) => `${encoded({ alg: 'HS256' })}.${body}.x`],
  ])('%s is no credential', async (_, change) => {
    const [head = '', body = ''] = (await provider().accessToken(AUDIENCE)).split('.')
    const answer = await ask(tidegate().url, {
      path: '/decisions',
      headers: { authorization: `Bearer ${change(head, body)}` },
    })
    expect(answer.status).toBe(401)
  })
})
