import { describe, expect, test } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import { MARKUP, as, formTokenIn, usePageService } from '../support/page-service.js'

const { page, post, signIn, url } = usePageService()

describe('delegations on the page of an account', () => {
  const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const give = async (cookie: string, fields: Readonly<Record<string, string>>) => {
    const formToken = formTokenIn(await page('/ui/account', { cookie }))
    return await post('/ui/account/delegations', { formToken, ...fields }, { cookie })
  }

  test('give rights until an end, and end on either page', async () => {
    const [ana, bo] = [await signIn('ana'), await signIn('bo')]
    const given = await give(ana, { to: 'bo', until: dayIn(7), reason: `holiday ${MARKUP}` })
    expect([given.status, given.headers.location]).toEqual([303, '/ui/account'])
    const shown = await page('/ui/account', { cookie: bo })
    const id = /delegations\/(\d+)\/revoke/.exec(shown.text)?.[1] ?? ''
    expect(shown.text).not.toContain(MARKUP)
    const { delegations } = objectOf(await ask(url(), { path: '/delegations', headers: as('eve') }))
    expect(delegations).toMatchObject([
      { id: Number(id), from: 'ana', to: 'bo', until: `${dayIn(7)}T00:00:00.000Z` },
    ])
    const revoke = `/ui/account/delegations/${id}/revoke`
    expect((await post(revoke, { formToken: 'of another page' }, { cookie: bo })).status).toBe(403)
    expect((await post(revoke, { formToken: formTokenIn(shown) }, { cookie: bo })).status).toBe(303)
    expect((await page('/ui/account', { cookie: ana })).text).toContain('Nobody decides for another person.')
  })

  test('of other people are shown to an auditor, who cannot end them', async () => {
    const [ana, eve] = [await signIn('ana'), await signIn('eve')]
    await give(ana, { to: 'bo', until: dayIn(7), reason: 'on a boat' })
    const shown = await page('/ui/account', { cookie: eve })
    expect(shown.text).toContain('on a boat')
    expect(shown.text).not.toMatch(/delegations\/\d|name="until"/)
    const revoke = '/ui/account/delegations/2/revoke'
    expect((await post(revoke, { formToken: formTokenIn(shown) }, { cookie: eve })).status).toBe(403)
  })

  test.each([
    ['to oneself', { to: 'ANA', until: dayIn(7) }, /cannot delegate to yourself/],
    ['with an end in the past', { to: 'bo', until: '2020-01-01' }, /in the future/],
    ['with an end in a year', { to: 'bo', until: dayIn(365) }, /at most 90 days/],
  ])('%s are refused, and what was typed is kept', async (_, fields, problem) => {
    const refused = await give(await signIn('ana'), { ...fields, reason: `kept ${MARKUP}` })
    expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(problem)])
    expect(refused.text).toMatch(new RegExp(`value="${fields.until}"[^]*value="kept `))
    expect(refused.text).not.toContain(MARKUP)
  })
})

describe('the page of the fleet', () => {
  const report = { labels: { id: 'edge-1', version: '1.20.2', region: `north ${MARKUP}` }, bundles: {} }
  const bundle = { active_revision: 'r1', last_successful_activation: '2026-01-02T03:04:05Z' }
  const upload = (body: object) =>
    ask(url(), {
      ...{ method: 'POST', path: '/status', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...as('root') },
    })

  test('shows this instance, and how others are added', async () => {
    const shown = await page('/ui/fleet', { cookie: await signIn('eve') })
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('1 instance')])
    expect(shown.text).toContain('status.url')
  })

  test('shows the version, revision, health and labels of those that report', async () => {
    await upload({
      ...report,
      bundles: { main: bundle },
      plugins: { bundle: { state: 'ERROR', message: 'no space' } },
    })
    const cookie = await signIn('eve')
    const shown = await page('/ui/fleet', { cookie })
    for (const text of [
      'edge-1',
      'OPA 1.20.2',
      'r1',
      '2026-01-02 03:04:05 UTC',
      'failing',
      'no space',
      'by root',
    ])
      expect(shown.text).toContain(text)
    expect(shown.text).not.toContain(MARKUP)
    expect((await page('/ui/operations', { cookie })).text).toMatch(/2 instances[^]*1 failing/)
  })

  test('shows fifty instances at a time, and those that are searched for', async () => {
    const ids = Array.from({ length: 120 }, (_, index) => `many-${String(index).padStart(3, '0')}`)
    for (const id of ids)
      await upload({
        labels: { id, version: '1.20.2', zone: id === 'many-077' ? 'West' : 'east' },
        bundles: {},
      })
    const cookie = await signIn('eve')
    const shown: string[] = []
    const counts: number[] = []
    let path = '/ui/fleet?search=many-'
    while (path !== '') {
      const { text } = await page(path, { cookie })
      const found = [...text.matchAll(/<code>(many-\d+)<\/code>/g)].map(([, id = '']) => id)
      shown.push(...found)
      counts.push(found.length)
      path = (/href="([^"]+)">Next page/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
    }
    expect([shown, counts]).toEqual([ids, [50, 50, 20]])
    const west = await page('/ui/fleet?search=west&health=ok', { cookie })
    expect(west.text).toMatch(/Matching \(1\)[^]*many-077/)
    const none = await page('/ui/fleet?search=west&health=lost', { cookie })
    expect(none.text).toMatch(/No matching instance\.[^]*Show all/)
    expect((await page('/ui/fleet?health=great', { cookie })).status).toBe(400)
  })

  test('is for auditors', async () => {
    expect((await page('/ui/fleet', { cookie: await signIn('bo') })).status).toBe(403)
  })
})
