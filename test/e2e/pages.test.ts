import { describe, expect, test } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import { MARKUP, as, cookieIn, formTokenIn, usePageService } from '../support/page-service.js'

const { page, post, signIn, trigger, url } = usePageService()

const statusOf = async (id: number): Promise<unknown> =>
  objectOf(await ask(url(), { path: `/approvalGateInstances/${id}/status` }))['status']

describe('a visitor without a session', () => {
  test.each([
    '/ui',
    '/ui/approvals/1',
    '/ui/plugin-isd/approval/shop/any/7/fromPlugin?instanceId=1',
    '/ui/plugin-isd/policy/release/approval',
    '/ui/plugin-isd/verification/shop/1/fromPlugin/3',
  ])('is shown the form to sign in at %s, and nothing else', async (path) => {
    const answer = await page(path)
    expect([answer.status, answer.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8'])
    expect(answer.text).toContain('type="password"')
    expect(answer.text).not.toMatch(/OPS-1|Release/)
    expect(answer.text).toContain(`name="next" value="${path}"`)
  })

  test('gets a cookie that scripts and other sites do not have, and one more for the form', async () => {
    const form = await page('/ui/sign-in')
    expect(form.headers['set-cookie']).toEqual([
      expect.stringMatching(/^tidegate_sign_in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ])
    const fields = { formToken: formTokenIn(form), token: 'token-of-ana', next: '/ui/approvals/3?x=1' }
    const answer = await post('/ui/sign-in', fields, { cookie: cookieIn(form) })
    expect([answer.status, answer.headers.location]).toEqual([303, '/ui/approvals/3?x=1'])
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^tidegate_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ])
  })

  test.each([
    'https://evil.example',
    '//evil.example/ui',
    '/\\evil.example',
    '/ui\\..\\x',
    '/uix',
    '/analysis',
    '/ui/a\r\nSet-Cookie: a=b',
    'javascript:alert(1)',
    '',
  ])('is never led elsewhere: %j', async (next) => {
    const form = await page('/ui/sign-in')
    const fields = { formToken: formTokenIn(form), token: 'token-of-ana', next }
    const answer = await post('/ui/sign-in', fields, { cookie: cookieIn(form) })
    expect([answer.status, answer.headers.location]).toEqual([303, '/ui'])
  })

  test('gets an error for a wrong token, and no session', async () => {
    const form = await page('/ui/sign-in')
    const fields = { formToken: formTokenIn(form), token: 'token-of-nobody', next: '/ui' }
    const answer = await post('/ui/sign-in', fields, { cookie: cookieIn(form) })
    expect([answer.status, cookieIn(answer)]).toEqual([401, expect.not.stringContaining('tidegate_session')])
    expect(answer.text).toContain('Unknown token. Check it and try again.')
  })

  test('cannot be signed in by the page of another', async () => {
    const fields = { formToken: 'x'.repeat(43), token: 'token-of-ana', next: '/ui' }
    expect((await post('/ui/sign-in', fields)).status).toBe(403)
    const other = `tidegate_sign_in=${'y'.repeat(43)}`
    expect((await post('/ui/sign-in', fields, { cookie: other })).status).toBe(403)
  })
})

describe('a session', () => {
  test('is for its pages alone, and no token of the API', async () => {
    const cookie = await signIn('ana')
    expect((await page('/ui', { cookie })).status).toBe(200)
    expect((await page('/decisions', { cookie })).status).toBe(401)
    expect((await page('/approvalGateInstances/1/review', { cookie })).status).toBe(405)
    const review = { method: 'PUT', path: '/approvalGateInstances/1/review', body: '{"action":"approve"}' }
    const headers = { 'content-type': 'application/json', cookie }
    expect((await ask(url(), { ...review, headers })).status).toBe(401)
  })

  test('is refused under another host, twice, or changed', async () => {
    const cookie = await signIn('ana')
    expect((await page('/ui', { cookie, host: 'localhost:1' })).status).toBe(401)
    expect((await page('/ui', { cookie: `${cookie}; ${cookie}` })).status).toBe(401)
    expect((await page('/ui', { cookie: cookie.slice(0, -1) })).status).toBe(401)
    expect((await page('/ui', { cookie: `other=1; ${cookie}` })).status).toBe(200)
  })

  test('ends for every holder of the cookie when its user signs out', async () => {
    const cookie = await signIn('ana')
    const formToken = formTokenIn(await page('/ui', { cookie }))
    const answer = await post('/ui/sign-out', { formToken }, { cookie })
    expect([answer.status, answer.headers.location]).toEqual([303, '/ui/sign-in'])
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^tidegate_session=;.*Max-Age=0$/)
    expect((await page('/ui', { cookie })).status).toBe(401)
  })

  test('is one of ten of a token: the one that was used longest ago ends', async () => {
    const first = await signIn('bo')
    const others: string[] = []
    for (let nth = 0; nth < 10; nth++) others.push(await signIn('bo'))
    expect((await page('/ui', { cookie: first })).status).toBe(401)
    expect((await page('/ui', { cookie: others[0] ?? '' })).status).toBe(200)
  })
})

describe('deciding', () => {
  test('accepts the form of the own session, and redirects to the page', async () => {
    const id = await trigger('decide')
    const cookie = await signIn('ana')
    const shown = await page(`/ui/plugin-isd/approval/shop/any/7/fromPlugin?instanceId=${id}`, { cookie })
    const formToken = formTokenIn(shown)
    const path = /<form method="post" action="([^"]+approvals[^"]+)"/.exec(shown.text)?.[1] ?? ''
    const answer = await post(path, { formToken, action: 'approve', comment: `fine ${MARKUP}` }, { cookie })
    expect([answer.status, answer.headers.location]).toEqual([303, `/ui/approvals/${id}`])
    expect(await statusOf(id)).toBe('activated')
    const after = await page(`/ui/approvals/${id}`, { cookie })
    expect(after.text).toContain('1 of 2')
    const again = await post(path, { formToken, action: 'approve' }, { cookie })
    expect([again.status, again.text]).toEqual([
      409,
      expect.stringContaining('has already decided on instance'),
    ])
    const comment = 'two lines\r\nof mine'
    const refused = await post(path, { formToken, action: 'approve', comment }, { cookie })
    expect(refused.text).toMatch(/<textarea id="comment"[^>]*>two lines\nof mine<\/textarea>/)
    const other = await signIn('bo')
    const others = { formToken: formTokenIn(await page(path, { cookie: other })), action: 'approve' }
    expect((await post(path, others, { cookie: other })).status).toBe(303)
    expect(await statusOf(id)).toBe('approved')
    expect((await page(path, { cookie })).text).not.toContain('value="approve"')
    const late = await post(path, { formToken, action: 'reject', comment: 'too late' }, { cookie })
    expect([late.status, late.text]).toEqual([409, expect.stringMatching(/readonly>too late<\/textarea>/)])
  })

  test('after the session has ended shows the entered text, but nothing from another site', async () => {
    const id = await trigger('session-ended')
    const fields = { formToken: 'x', action: 'approve', comment: `a long comment ${MARKUP}` }
    const answer = await post(`/ui/approvals/${id}`, fields)
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining('a long comment')])
    expect(answer.text.match(/<script/g)).toHaveLength(1)
    expect(answer.text).not.toMatch(/<img/)
    const other = await post(`/ui/approvals/${id}`, fields, { 'sec-fetch-site': 'cross-site' })
    expect(other.text).not.toContain('a long comment')
    const cookie = await signIn('ana')
    const stale = await post(`/ui/approvals/${id}`, fields, { cookie })
    expect([stale.status, stale.text]).toEqual([403, expect.stringContaining('a long comment')])
  })

  test('is never done by opening a link, or without the token of the form', async () => {
    const id = await trigger('links')
    const cookie = await signIn('ana')
    const path = `/ui/approvals/${id}`
    await page(`${path}?action=approve&comment=x`, { cookie })
    const others = formTokenIn(await page(path, { cookie: await signIn('bo') }))
    for (const fields of [{}, { formToken: '' }, { formToken: others }]) {
      const answer = await post(path, { ...fields, action: 'reject' }, { cookie })
      expect([answer.status, answer.text]).toEqual([
        403,
        expect.stringContaining('This form belongs to an ended session'),
      ])
    }
    const formToken = formTokenIn(await page(path, { cookie }))
    const json = { 'content-type': 'application/json', cookie }
    const asJson = JSON.stringify({ formToken, action: 'reject' })
    expect((await ask(url(), { method: 'POST', path, body: asJson, headers: json })).status).toBe(415)
    expect((await ask(url(), { method: 'PUT', path, headers: { cookie } })).status).toBe(405)
    expect(await statusOf(id)).toBe('activated')
  })

  test('is for approvers: an auditor sees the page and no form', async () => {
    const id = await trigger('auditor')
    const cookie = await signIn('eve')
    const shown = await page(`/ui/approvals/${id}`, { cookie })
    expect([shown.status, shown.text]).toEqual([200, expect.not.stringContaining('value="approve"')])
    const formToken = formTokenIn(shown)
    expect((await post(`/ui/approvals/${id}`, { formToken, action: 'approve' }, { cookie })).status).toBe(403)
    expect((await page('/ui', { cookie: await signIn('orca') })).status).toBe(403)
  })
})

describe('a page', () => {
  test('shows all that was written by others as text', async () => {
    const id = await trigger('markup')
    const cookie = await signIn('ana')
    const formToken = formTokenIn(await page('/ui', { cookie }))
    await post(
      `/ui/approvals/${id}`,
      { formToken, action: 'cancel', confirm: 'yes', comment: MARKUP },
      { cookie },
    )
    for (const path of ['/ui', `/ui/approvals/${id}`, '/ui/plugin-isd/policy/release/approval/deny']) {
      const { status, text } = await page(path, { cookie })
      expect(status).toBe(200)
      expect(text.match(/<script/g)).toHaveLength(1)
      expect(text).not.toMatch(/<img|onerror="/i)
    }
    const { text } = await page(`/ui/approvals/${id}`, { cookie })
    expect(text.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(4)
    for (const word of ['OPS-1', 'In Progress', 'release/approval', 'gate.activated', 'canceled'])
      expect(text).toContain(word)
    const policy = await page('/ui/policies/release/approval', { cookie })
    expect(policy.text).toContain('contains</span> sprintf(')
    expect(policy.text).toContain('deny')
    const missing = await page(`/ui/policies/${encodeURIComponent(MARKUP)}`, { cookie })
    expect(missing.text.match(/<script/g)).toHaveLength(1)
  })

  test('loads nothing, runs its own script alone, submits forms only to its origin and cannot be framed', async () => {
    const cookie = await signIn('ana')
    for (const path of ['/ui', '/ui/sign-in', '/ui/approvals/999999']) {
      const { headers } = await page(path, { cookie })
      const policy = String(headers['content-security-policy']).split('; ').sort()
      expect(policy).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        expect.stringMatching(/^script-src 'sha256-[\w+/]{43}='$/),
        expect.stringMatching(/^style-src 'sha256-[\w+/]{43}='$/),
      ])
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
      })
    }
  })

  test('of a missing resource is a readable error', async () => {
    for (const path of ['/ui/approvals/999999', '/ui/policies/nope', '/ui/runs/999999', '/ui/approvals/x']) {
      const answer = await page(path, as('ana'))
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    }
  })
})

describe('the page of a template', () => {
  const link = (name: string): string =>
    `/ui/plugin-isd/metric-template/shop/12/${name}/%7B%7D/ana@example.org/-1/true/false/fromPlugin`
  const body = JSON.stringify({
    templateName: MARKUP,
    data: { groups: [{ group: 'a', metrics: [{ name: 'x' }] }] },
  })

  test('makes one for an admin, and shows it to others', async () => {
    const cookie = await signIn('root')
    const form = await page(link('null'), { cookie })
    expect([form.status, form.text]).toEqual([200, expect.stringContaining('New metric template')])
    const formToken = formTokenIn(form)
    const saved = await post('/ui/templates/metric', { formToken, name: 'app metric', body }, { cookie })
    expect([saved.status, saved.headers.location]).toEqual([303, '/ui/templates/metric/app%20metric'])
    for (const path of [link('app%20metric'), '/ui/templates/metric/app%20metric']) {
      const shown = await page(path, { cookie: await signIn('eve') })
      expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('&quot;metrics&quot;')])
      expect(shown.text).not.toMatch(/<textarea/)
    }
    expect(
      (await page('/ui/plugin-isd/log-template/shop/12/null/undefined/false/write/fromPlugin', { cookie }))
        .status,
    ).toBe(200)
  })

  test('stores no invalid template, and nothing from callers without the role admin', async () => {
    const cookie = await signIn('root')
    const formToken = formTokenIn(await page('/ui', { cookie }))
    for (const wrong of ['{', '{"templateName":1}', '[]']) {
      const answer = await post('/ui/templates/metric', { formToken, name: 'wrong', body: wrong }, { cookie })
      expect([answer.status, answer.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
      expect(answer.text).toMatch(/<textarea class="code"[^>]*>(?:\{|\[|&quot;)/)
    }
    const other = await signIn('ana')
    const token = formTokenIn(await page('/ui', { cookie: other }))
    expect(
      (await post('/ui/templates/metric', { formToken: token, name: 'x', body }, { cookie: other })).status,
    ).toBe(403)
  })
})
