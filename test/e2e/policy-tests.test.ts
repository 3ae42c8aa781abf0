import { expect, test } from 'vitest'

import { useConsoleService } from '../support/console-service.js'
import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { as, formTokenIn } from '../support/page-service.js'

const PACKAGE = '/policies/packages/release.window'
const { url, page, post, signIn } = useConsoleService()
const run = (path: string, name: string): Promise<Answered> =>
  ask(url(), { method: 'POST', path, headers: as(name) })

test('the tests of a package run on request, with the failing line of those that fail', async () => {
  const answer = await run(`${PACKAGE}/tests`, 'al')
  const { tests, coverage } = objectOf(answer) as Record<string, Record<string, unknown>[]>
  expect(tests?.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['test_ticket', 'pass'],
    ['test_sunday', 'fail'],
    ['test_saturday', 'pass'],
  ])
  expect(tests?.[1]).toMatchObject({ file: 'release_test.rego', row: 7 })
  expect(tests?.[1]?.['values']).toMatchObject([{ file: 'release_test.rego', row: 8 }])
  expect(coverage).toMatchObject([{ file: 'release.rego', uncovered: [] }])
})

test('the coverage by decisions shows the lines that no stored input reached', async () => {
  const answer = await run(`${PACKAGE}/coverage?limit=1`, 'eve')
  const { decisions, coverage } = objectOf(answer)
  expect(decisions).toBe(1)
  expect(coverage).toMatchObject([{ file: 'release.rego', covered: [11, 14], uncovered: [13] }])
})

test('an unknown package has no tests, and coverage requires the role auditor', async () => {
  const unknown = await run('/policies/packages/release.gone/tests', 'al')
  expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining('release.gone')])
  const refused = await run(`${PACKAGE}/coverage`, 'al')
  expect(refused.status).toBe(403)
})

test('the page of a policy runs its tests and marks the evaluated lines', async () => {
  const path = '/ui/policies/release/window'
  const cookie = await signIn('eve')
  const before = await page(path, { cookie })
  const sent = async (action: string): Promise<string> =>
    (await post(path, { action, formToken: formTokenIn(before) }, { cookie })).text
  expect(before.text).toContain('evaluation cost')
  expect(before.text).not.toContain('line covered')
  const tested = await sent('tests')
  expect(tested).toContain('2 of 3 tests pass.')
  expect(tested).toContain('release_test.rego:8')
  expect(tested).toContain('line covered')
  const covered = await sent('coverage')
  expect(covered).toMatch(/by the latest 2\s+decisions/)
})

test('the list of packages has the share of each in the cost of evaluations', async () => {
  const { packages } = objectOf(await ask(url(), { path: '/policies/packages', headers: as('eve') }))
  const names = (packages as { readonly package: string }[]).map((each) => each.package)
  expect(names).toEqual(['release.window', 'static.owners'])
})
