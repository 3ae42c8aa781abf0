import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { CertificateAuthority } from '../support/certificates.js'
import { Browser } from '../support/browser.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { freePort } from '../support/free-port.js'
import { MFA, startIdentityProvider } from '../support/identity-provider.js'
import type { IdentityProvider } from '../support/identity-provider.js'
import { token } from '../support/page-service.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const AUDIENCE = 'https://tidegate.example.org'
const workspace = makeWorkspace({ 'policies/a.rego': 'package a\n\nallow := true\n' })
let tidegate: TidegateProcess
let provider: IdentityProvider

beforeAll(async () => {
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  const authority = new CertificateAuthority(workspace.path)
  const files = authority.make('provider', { subject: '/CN=provider', names: 'IP:127.0.0.1' })
  provider = await startIdentityProvider(files, () => `${publicUrl}/ui/sign-in/callback`)
  const folder = workspace.write({ 'client-secret': 'secret-of-tidegate\n' })
  tidegate = await startTidegate({
    workspace,
    config: {
      server: { addr: `127.0.0.1:${port}`, publicUrl },
      auth: {
        tokens: [token('orca', ['orchestrator']), token('taken@example.org', ['admin'])],
        oidc: {
          ...{ issuer: provider.issuer, tlsCa: authority.certificate },
          clientId: 'tidegate',
          clientSecret: { file: join(folder, 'client-secret') },
          label: 'Example Login',
          roles: { approver: ['release-managers'], auditor: ['*'], orchestrator: ['robots'] },
          audience: AUDIENCE,
          approvalAcr: MFA,
        },
      },
      callbacks: { allowLoopback: true },
      gates: {
        definitions: [
          { id: 7, name: 'Release', application: 'shop', approvers: { groups: ['release-managers'] } },
        ],
      },
    },
  })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  await provider.close()
  workspace.remove()
})
beforeEach(() => {
  provider.user = 'ana@example.org'
  provider.away.isAway = false
  provider.namesAcr = true
  provider.people.clear()
  provider.people.set('ana@example.org', { groups: ['release-managers', 'staff'] })
  provider.people.set('taken@example.org', { groups: ['staff'] })
})

const start = '/ui/sign-in/start?next=%2Fui%2Fapprovals%3Fstatus%3Dall'
const formTokenIn = ({ text }: Answered): string => /name="formToken" value="([^"]+)"/.exec(text)?.[1] ?? ''

async function signedIn(): Promise<Browser> {
  const browser = new Browser(tidegate.url)
  expect((await browser.get(start)).status).toBe(200)
  return browser
}

/** Signs in at the provider, up to the address at which it sends the browser back. */
async function returnAddress(browser: Browser): Promise<string> {
  let target = (await browser.step(start)).headers.location ?? ''
  while (!target.includes('/ui/sign-in/callback'))
    target = new URL((await browser.step(target)).headers.location ?? '', target).href
  return target
}

async function triggerGate(executionId: string): Promise<number> {
  const path = '/visibilityservice/v5/approvalGates/7/trigger'
  const callbacks = {
    approvalCallbackURL: 'http://127.0.0.1:1/y',
    rejectionCallbackURL: 'http://127.0.0.1:1/n',
  }
  const headers = { authorization: 'Bearer token-of-orca' }
  const body = { ...callbacks, executionId, toolConnectorParameters: [] }
  return Number(objectOf(await postJson(tidegate.url, path, body, headers))['id'])
}

describe('signing in at an identity provider', () => {
  test('is offered on the sign-in page, next to tokens', async () => {
    const page = await new Browser(tidegate.url).get('/ui')
    expect([page.status, page.text]).toEqual([401, expect.stringContaining('Sign in with Example Login')])
    expect(page.text).toContain('type="password"')
  })

  test('leads back to the page that was wanted, with the name and a session that scripts cannot read', async () => {
    const browser = new Browser(tidegate.url)
    const page = await browser.get(start)
    expect([page.status, new URL(page.url).pathname + new URL(page.url).search]).toEqual([
      200,
      '/ui/approvals?status=all',
    ])
    expect(page.text).toContain('ana@example.org')
    expect(browser.cookieNames()).toEqual(['tidegate_session'])
  })

  test('sends PKCE, state and nonce, and keeps them in a cookie for ten minutes', async () => {
    const away = await new Browser(tidegate.url).step(start)
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
    const browser = new Browser(tidegate.url)
    const [first, second] = [await browser.step(start), await browser.step(start)]
    expect((await browser.get(second.headers.location ?? '')).status).toBe(200)
    expect((await browser.get(first.headers.location ?? '')).status).toBe(200)
  })

  test('is refused in another browser than the one that began', async () => {
    const away = await new Browser(tidegate.url).step(start)
    const other = await new Browser(tidegate.url).get(away.headers.location ?? '')
    expect([other.status, other.text]).toEqual([403, expect.stringContaining('began in another browser')])
  })

  test('is refused for an answer whose state belongs to another sign-in', async () => {
    const browser = new Browser(tidegate.url)
    await browser.step(start)
    const answer = await browser.get('/ui/sign-in/callback?code=x&state=made-up')
    expect(answer.status).toBe(403)
    expect(browser.cookieNames()).not.toContain('tidegate_session')
  })

  test('accepts an answer only once', async () => {
    const browser = new Browser(tidegate.url)
    const target = await returnAddress(browser)
    expect((await browser.step(target)).status).toBe(303)
    expect((await browser.step(target)).status).toBe(403)
  })

  test('is refused for the code of another sign-in, and for a code that was used', async () => {
    const browser = new Browser(tidegate.url)
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
    const browser = new Browser(tidegate.url)
    const away = await browser.step(start)
    const state = new URL(away.headers.location ?? '').searchParams.get('state') ?? ''
    const iss = encodeURIComponent(provider.issuer)
    const answer = await browser.get(`/ui/sign-in/callback?error=access_denied&state=${state}&iss=${iss}`)
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('access_denied')])
  })

  test.each(['https://evil.example/', '//evil.example', '/analysis', '/ui/../../x'])(
    'never leads to another site or to an address that is no page: %s',
    async (next) => {
      const page = await new Browser(tidegate.url).get(`/ui/sign-in/start?next=${encodeURIComponent(next)}`)
      expect(new URL(page.url).href).toBe(`${tidegate.url}/ui`)
    },
  )
})

describe('an account', () => {
  test('without a role for its groups gets no session, and is told why', async () => {
    provider.user = 'taken@example.org'
    const browser = new Browser(tidegate.url)
    const page = await browser.get(start)
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('name of a token or certificate')])
    expect(browser.cookieNames()).not.toContain('tidegate_session')
  })

  test('whose address the provider has not verified gets no session', async () => {
    provider.people.set('ana@example.org', { groups: [], verified: false })
    const page = await new Browser(tidegate.url).get(start)
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
    provider.people.set('ana@example.org', { groups: ['staff'] })
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
    provider.people.delete('ana@example.org')
    expect((await browser.get('/ui')).status).toBe(401)
    expect((await browser.get('/ui')).status).toBe(401)
  })

  test('continues while the provider is away, and nobody else can sign in', async () => {
    const [browser, late] = [await signedIn(), new Browser(tidegate.url)]
    const lateReturn = await returnAddress(late)
    provider.away.isAway = true
    expect((await browser.get('/ui')).status).toBe(200)
    const other = await late.step(lateReturn)
    expect([other.status, other.text]).toEqual([503, expect.stringContaining('does not answer')])
  })

  test('whose provider ignores the stronger sign-in that was asked for may not review', async () => {
    const page = `/ui/approvals/${await triggerGate('weak')}`
    provider.namesAcr = false
    const browser = new Browser(tidegate.url)
    const shown = await browser.get(`/ui/sign-in/start?approval=yes&next=${encodeURIComponent(page)}`)
    const refused = await browser.post(page, { formToken: formTokenIn(shown), action: 'approve' })
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('stronger sign-in')])
  })
})

describe('the sessions of an account', () => {
  const rows = async (browser: Browser) =>
    [...(await browser.get('/ui/account')).text.matchAll(/sessions\/([0-9a-f]{16})\/revoke/g)].map(
      ([, id]) => id,
    )

  test('are listed on its page, and revoking one ends it and no other', async () => {
    const [one, other] = [await signedIn(), await signedIn()]
    const page = await one.get('/ui/account')
    expect(page.text).toContain('this browser')
    for (const id of await rows(one))
      await one.post(`/ui/account/sessions/${String(id)}/revoke`, { formToken: formTokenIn(page) })
    expect((await other.get('/ui')).status).toBe(401)
    expect((await one.get('/ui')).status).toBe(200)
    const trail = await ask(tidegate.url, {
      path: '/audit?kind=session.revoked',
      headers: { authorization: `Bearer ${await provider.accessToken(AUDIENCE)}` },
    })
    expect(trail.text).toContain('session.revoked')
  })

  test('of other people cannot be ended', async () => {
    const own = await signedIn()
    const formToken = formTokenIn(await own.get('/ui/account'))
    const answer = await own.post('/ui/account/sessions/0123456789abcdef/revoke', { formToken })
    expect(answer.status).toBe(404)
  })

  test('may end while a comment is typed: the page to sign in keeps it', async () => {
    const id = await triggerGate('ended-session')
    const browser = await signedIn()
    const path = `/ui/approvals/${id}`
    const formToken = formTokenIn(await browser.get(path))
    provider.people.delete('ana@example.org')
    const comment = 'checked <b>everything</b> \u202e'.repeat(50)
    const answer = await browser.post(path, { formToken, action: 'approve', comment })
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('checked &lt;b&gt;everything&lt;/b&gt;')
    expect(answer.text).not.toContain('<b>everything')
  })
})

describe('an access token of the provider', () => {
  const decide = (bearer: string): Promise<Answered> =>
    postJson(tidegate.url, '/v1/data/a/allow', { input: {} }, { authorization: `Bearer ${bearer}` })

  test('for this service is a caller with the roles of its groups', async () => {
    const answer = await ask(tidegate.url, {
      path: '/decisions',
      headers: { authorization: `Bearer ${await provider.accessToken(AUDIENCE)}` },
    })
    expect(answer.status).toBe(200)
  })

  test('without the role of an operation is refused', async () => {
    expect((await decide(await provider.accessToken(AUDIENCE))).status).toBe(403)
  })

  test('for another audience is no credential', async () => {
    const answer = await ask(tidegate.url, {
      path: '/decisions',
      headers: { authorization: `Bearer ${await provider.accessToken('https://other.example.org')}` },
    })
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining('aud')])
  })

  test.each([
    ['without a signature', (head: string, body: string) => `${head}.${body}.x`],
    ['with alg none', (_: string, body: string) => `${encoded({ alg: 'none' })}.${body}.x`],
    ['signed with a shared secret', (_: string, body: string) => `${encoded({ alg: 'HS256' })}.${body}.x`],
  ])('%s is no credential', async (_, change) => {
    const [head = '', body = ''] = (await provider.accessToken(AUDIENCE)).split('.')
    const answer = await ask(tidegate.url, {
      path: '/decisions',
      headers: { authorization: `Bearer ${change(head, body)}` },
    })
    expect(answer.status).toBe(401)
  })
})

describe('signing out', () => {
  const signOut = async (browser: Browser): Promise<Answered> =>
    browser.post('/ui/sign-out', { formToken: formTokenIn(await browser.get('/ui/account')) })
  const xsrfIn = ({ text }: Answered): string => /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
  /** Signs out here and follows to the provider. */
  const atProvider = async (browser: Browser) => {
    const answer = await signOut(browser)
    return { answer, page: await browser.get(String(answer.headers['refresh']).replace('0; url=', '')) }
  }

  test('ends the session here, and leads to the provider and back', async () => {
    const browser = await signedIn()
    const { answer, page } = await atProvider(browser)
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('Sign out of Example Login')])
    expect((await browser.get('/ui')).status).toBe(401)
    const query = new URL(page.url).searchParams
    expect(query.get('post_logout_redirect_uri')).toBe(`${tidegate.url}/ui/sign-in`)
    expect(query.get('id_token_hint')?.split('.')).toHaveLength(3)
    const confirmed = { xsrf: xsrfIn(page), logout: 'yes' }
    const done = await browser.post(`${provider.issuer}/session/end/confirm`, confirmed)
    expect([done.status, done.headers.location]).toEqual([303, `${tidegate.url}/ui/sign-in`])
  })

  test('at the provider ends the session here that began with it, and no other', async () => {
    const [browser, other] = [await signedIn(), await signedIn()]
    const page = await browser.get(`${provider.issuer}/session/end?client_id=tidegate`)
    await browser.post(`${provider.issuer}/session/end/confirm`, { xsrf: xsrfIn(page), logout: 'yes' })
    expect((await browser.get('/ui')).status).toBe(401)
    expect((await other.get('/ui')).status).toBe(200)
  })

  test('while the provider is away ends the session here', async () => {
    const browser = await signedIn()
    provider.away.isAway = true
    expect((await signOut(browser)).status).toBeLessThan(400)
    expect((await browser.get('/ui')).status).toBe(401)
  })

  test.each(['', 'x', 'a.b.c', `${encoded({ alg: 'none' })}.${encoded({ sub: 'ana' })}.`])(
    'is not accepted from others than the provider: %j',
    async (logout_token) => {
      const browser = await signedIn()
      const answer = await new Browser(tidegate.url).post('/ui/sign-in/back-channel', { logout_token })
      expect(answer.status).toBe(400)
      expect((await browser.get('/ui')).status).toBe(200)
    },
  )
})

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
