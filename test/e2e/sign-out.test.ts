import { describe, expect, test } from 'vitest'

import { Browser } from '../support/browser.js'
import { ask } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { AUDIENCE, encoded, useSignOnService } from '../support/sign-on-service.js'
import { formTokenIn } from '../support/page-service.js'

const { tidegate, provider, signedIn, triggerGate } = useSignOnService()

describe('signing out', () => {
  const signOut = async (browser: Browser): Promise<Answered> =>
    browser.post('/ui/sign-out', { formToken: formTokenIn(await browser.get('/ui/account')) })
  const xsrfIn = ({ text }: Answered): string => /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
  /** Signs out here and follows to the provider(). */
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
    expect(query.get('post_logout_redirect_uri')).toBe(`${tidegate().url}/ui/sign-in`)
    expect(query.get('id_token_hint')?.split('.')).toHaveLength(3)
    const confirmed = { xsrf: xsrfIn(page), logout: 'yes' }
    const done = await browser.post(`${provider().issuer}/session/end/confirm`, confirmed)
    expect([done.status, done.headers.location]).toEqual([303, `${tidegate().url}/ui/sign-in`])
  })

  test('at the provider ends the session here that began with it, and no other', async () => {
    const [browser, other] = [await signedIn(), await signedIn()]
    const page = await browser.get(`${provider().issuer}/session/end?client_id=tidegate`)
    await browser.post(`${provider().issuer}/session/end/confirm`, { xsrf: xsrfIn(page), logout: 'yes' })
    expect((await browser.get('/ui')).status).toBe(401)
    expect((await other.get('/ui')).status).toBe(200)
  })

  test('while the provider is away ends the session here', async () => {
    const browser = await signedIn()
    provider().away.isAway = true
    expect((await signOut(browser)).status).toBeLessThan(400)
    expect((await browser.get('/ui')).status).toBe(401)
  })

  test.each(['', 'x', 'a.b.c', `${encoded({ alg: 'none' })}.${encoded({ sub: 'ana' })}.`])(
    'is not accepted from others than the provider: %j',
    async (logout_token) => {
      const browser = await signedIn()
      const answer = await new Browser(tidegate().url).post('/ui/sign-in/back-channel', { logout_token })
      expect(answer.status).toBe(400)
      expect((await browser.get('/ui')).status).toBe(200)
    },
  )
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
    const trail = await ask(tidegate().url, {
      path: '/audit?kind=session.revoked',
      headers: { authorization: `Bearer ${await provider().accessToken(AUDIENCE)}` },
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
    provider().people.delete('ana@example.org')
    const comment = 'checked <b>everything</b> \u202e'.repeat(50)
    const answer = await browser.post(path, { formToken, action: 'approve', comment })
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('checked &lt;b&gt;everything&lt;/b&gt;')
    expect(answer.text).not.toContain('<b>everything')
  })
})
