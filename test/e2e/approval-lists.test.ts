import { beforeAll, expect, test } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import { formTokenIn, usePageService } from '../support/page-service.js'

const { page, post, url } = usePageService({ hasTokens: false })
const WAITING = 60

async function triggerPlainly(executionId: string): Promise<number> {
  const body = {
    ...{ approvalCallbackURL: 'http://127.0.0.1:1/y', rejectionCallbackURL: 'http://127.0.0.1:1/n' },
    ...{ executionId, toolConnectorParameters: '' },
  }
  const path = '/visibilityservice/v5/approvalGates/7/trigger'
  return Number(objectOf(await postJson(url(), path, body))['id'])
}

const linkTo = (text: string, name: string): string =>
  (new RegExp(`<a href="([^"]+)">${name}</a>`).exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
const executionsIn = (text: string): number[] =>
  [...text.matchAll(/>run-(\d+)<\/a>/g)].map(([, number]) => Number(number))
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

beforeAll(async () => {
  for (const index of upTo(WAITING)) await triggerPlainly(`run-${index}`)
})

test('the page shows the number of waiting instances, the earliest deadlines first, and links to all', async () => {
  const first = await page('/ui/approvals')
  expect(first.text).toContain(`Waiting for a decision (${WAITING})`)
  const [waiting = '', latest = ''] = first.text.split('<h2>Latest</h2>')
  expect(executionsIn(waiting)).toEqual(upTo(50))
  expect(waiting).toMatch(/in 23 hours/)
  expect(executionsIn(latest)).toEqual(upTo(WAITING).reverse().slice(0, 10))
  const second = await page(linkTo(first.text, 'Next page'))
  expect(executionsIn(second.text)).toEqual(upTo(WAITING).slice(50))
  expect(linkTo(second.text, 'Next page')).toBe('')
  expect(linkTo(second.text, 'First page')).toBe('/ui/approvals?status=activated')
  const all = await page(linkTo(first.text, `All ${WAITING} instances`))
  expect(executionsIn(all.text)).toEqual(upTo(WAITING).reverse().slice(0, 50))
})

test('the page finds instances by a text and a state', async () => {
  const found = await page('/ui/approvals?search=RUN-5&status=activated')
  expect(found.text).toContain('Waiting for a decision (11)')
  expect(executionsIn(found.text)).toEqual([5, ...upTo(WAITING).slice(50)])
  const none = await page('/ui/approvals?search=run-5&status=approved')
  expect(none.text).toContain('No matching instances')
  const markup = await page(`/ui/approvals?search=${encodeURIComponent('"><script>')}`)
  expect([markup.status, markup.text]).toEqual([200, expect.not.stringContaining('"><script>')])
  expect((await page('/ui/approvals?status=nonsense')).status).toBe(400)
})

test('the API returns their number, and pages by deadline', async () => {
  const path = '/approvalGateInstances?status=activated&order=deadline&limit=7&search=run-'
  const first = objectOf(await ask(url(), { path }))
  expect(first).toMatchObject({
    total: WAITING,
    instances: [{ executionId: 'run-0' }, {}, {}, {}, {}, {}, {}],
  })
  const next = objectOf(await ask(url(), { path: `${path}&cursor=${String(first['nextCursor'])}` }))
  expect(next).toMatchObject({ instances: [{ executionId: 'run-7' }, {}, {}, {}, {}, {}, {}] })
  expect((await ask(url(), { path: '/approvalGateInstances?order=deadline' })).status).toBe(400)
})

test('an anonymous caller cannot approve a gate that needs two people, and the comment is kept', async () => {
  const id = await triggerPlainly('nameless')
  const path = `/ui/approvals/${id}`
  const shown = await page(path)
  expect(shown.text).toContain('required to approve')
  const formToken = formTokenIn(shown)
  const fields = { formToken, action: 'approve', comment: 'fine by me' }
  for (const person of ['', ' anonymous']) {
    const refused = await post(path, { ...fields, person })
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('needs a name')])
    expect(refused.text).toContain('>fine by me</textarea>')
  }
  const review = { method: 'PUT', path: `/approvalGateInstances/${id}/review` }
  const headers = { 'content-type': 'application/json' }
  const nameless = await ask(url(), { ...review, headers, body: '{"action":"approve"}' })
  expect([nameless.status, objectOf(nameless)['code']]).toEqual([403, 'name_required'])
  expect((await post(path, { ...fields, person: 'ana' })).status).toBe(303)
  expect((await page(path)).text).toContain('1 of 2')
})
