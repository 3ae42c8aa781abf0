import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { EXECUTION, useConsoleService } from '../support/console-service.js'
import { CHROMIUM, DESKTOP, MAX_PAGE_BYTES, PHONE, shoot, useBrowser } from '../support/console-browser.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { as } from '../support/page-service.js'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

describe.skipIf(CHROMIUM === undefined)('the console in a browser', () => {
  const { url, ids, trigger } = useConsoleService()
  const signIn = useBrowser(url)
  const pages = (): readonly (readonly [name: string, path: string])[] => [
    ['home', '/'],
    ['approvals', '/ui/approvals'],
    ['approvals-mine', '/ui/approvals?mine=true'],
    ['approval', `/ui/approvals/${ids().approval}`],
    ['decisions', '/ui/decisions'],
    ['decision', `/ui/decisions/${ids().decision}`],
    ['why', `/ui/decisions/${ids().decision}/why`],
    ['policies', '/ui/policies'],
    ['policy', '/ui/policies/release/window'],
    ['playground', `/ui/playground?decision=${ids().decision}`],
    ['execution', `/ui/executions/${EXECUTION}`],
    ['analyses', '/ui/analyses'],
    ['run', `/ui/runs/${ids().analysis}`],
    ['analyses-of-shop', '/ui/analyses?application=shop'],
    ['comparison', `/ui/analyses/compare?first=${ids().analysis}&second=${ids().slowAnalysis}`],
    ['definition', '/ui/analyses/definition?application=shop'],
    ['new-definition', '/ui/analyses/definition'],
    ['estate', '/ui/estate'],
    ['pipeline', `/ui/estate/pipelines/${ids().pipeline}`],
    ['dora', '/ui/estate/dora'],
    ['trail', '/ui/trail'],
    ['record', '/ui/trail/1'],
    ['operations', '/ui/operations'],
    ['fleet', '/ui/fleet'],
    ['account', '/ui/account'],
    ['unknown', '/ui/nowhere'],
  ]

  /** Violations of the WCAG rules that axe-core checks. It runs beside the page's CSP. */
  const violationsOf = async (page: Page): Promise<string[]> => {
    await page.evaluate(AXE)
    const found = await page.evaluate<Violation[]>('axe.run().then((result) => result.violations)')
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
  }

  const isTooWide = (page: Page): Promise<boolean> =>
    page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

  test.each([
    ['desktop', 'light', DESKTOP],
    ['desktop', 'dark', DESKTOP],
    ['phone', 'light', PHONE],
    ['phone', 'dark', PHONE],
  ] as const)(
    'every page is readable on a %s in %s colours',
    async (device, colorScheme, viewport) => {
      const page = await signIn('root', { viewport, colorScheme })
      for (const [name, path] of pages()) {
        const answer = await page.goto(`${url()}${path}`)
        await shoot(page, `${name}-${device}-${colorScheme}`)
        const bytes = gzipSync((await answer?.body()) ?? '').length
        expect([name, await violationsOf(page), await isTooWide(page), bytes < MAX_PAGE_BYTES]).toEqual([
          ...[name, [], false, true],
        ])
        expect(answer?.status()).toBe(name === 'unknown' ? 404 : 200)
        expect(await page.locator('nav a').count()).toBe(9)
      }
    },
    240_000,
  )

  test.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)(
    'the results of tests and the coverage of a policy are readable on a %s',
    async (device, viewport) => {
      const page = await signIn('eve', { viewport })
      for (const [name, button, shown] of [
        ['tests', 'Run the tests', '2 of 3 tests pass'],
        ['coverage', 'Coverage by the latest decisions', 'by the latest 2 decisions'],
      ] as const) {
        await page.goto(`${url()}/ui/policies/release/window`)
        await page.click(`button:has-text("${button}")`)
        await page.waitForSelector(`[role="status"]:has-text("${shown}")`)
        await shoot(page, `policy-${name}-${device}`)
        expect([name, await violationsOf(page), await isTooWide(page)]).toEqual([name, [], false])
        expect(await page.locator('.line.covered').count()).toBeGreaterThan(1)
      }
    },
    60_000,
  )

  test.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)(
    'a fleet of many instances is readable on a %s, page by page',
    async (device, viewport) => {
      const time = new Date().toISOString()
      const main = { active_revision: 'sha256:5c0de51', last_successful_activation: time }
      for (let number = 10; number < 70; number += 1) {
        const labels = { id: `payments-${number}`, version: '1.20.2', region: 'eu-west' }
        const problem = number === 12 ? { message: 'the bundle has no signature' } : {}
        await postJson(url(), '/status', { labels, bundles: { main: { ...main, ...problem } } }, as('root'))
      }
      const page = await signIn('eve', { viewport })
      await page.click('nav >> text=Operations')
      await page.click('a:has-text("All instances")')
      await page.waitForSelector('.badge:has-text("1 failing")')
      await shoot(page, `fleet-many-${device}`)
      expect([await violationsOf(page), await isTooWide(page)]).toEqual([[], false])
      await page.click('a:has-text("Next page")')
      await page.waitForSelector('code:has-text("payments-69")')
      await page.selectOption('#filter-health', 'failing')
      await page.click('button:has-text("Show")')
      await page.waitForSelector('h2:has-text("Matching (1)")')
      expect(await page.textContent('main')).toContain('the bundle has no signature')
    },
    60_000,
  )

  test.each(['bo', 'al', 'eve', 'ana'])(
    'each section of the menu is readable for the roles of %s, and leads only where they may go',
    async (name) => {
      const page = await signIn(name, { viewport: PHONE })
      const links = await page.locator('nav a').all()
      const targets = new Set<string>()
      for (const path of await Promise.all(links.map((link) => link.getAttribute('href')))) {
        const answer = await page.goto(`${url()}${path ?? ''}`)
        await shoot(page, `${name}-${path?.replaceAll('/', '_') ?? ''}`)
        expect([path, answer?.status(), await violationsOf(page)]).toEqual([path, 200, []])
        for (const link of await page.locator('main a[href^="/"]').all())
          targets.add((await link.getAttribute('href')) ?? '')
      }
      for (const target of targets)
        expect([target, (await page.request.get(`${url()}${target}`)).status()]).toEqual([target, 200])
    },
    120_000,
  )

  test('an approver decides with the keyboard alone: a comment is required, and the record is in the trail', async () => {
    const id = await trigger('01JKEYBOARD')
    const page = await signIn('ana', { viewport: PHONE })
    await page.goto(`${url()}/ui/approvals/${id}`)
    const pressUntil = async (selector: string): Promise<void> => {
      for (let presses = 0; presses < 80; presses += 1) {
        await page.keyboard.press('Tab')
        if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return
      }
      throw new Error(`${selector} is not reached`)
    }
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await pressUntil('button[value="approve"]')
    await page.keyboard.press('Enter')
    await page.waitForSelector('[role="alert"]:has-text("requires a comment")')
    await pressUntil('#comment')
    await page.keyboard.type('checked with the keyboard')
    await pressUntil('button[value="approve"]')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.badge:has-text("approved")')
    const trail = await ask(url(), {
      path: '/audit?kind=gate.approved&executionId=01JKEYBOARD',
      headers: as('eve'),
    })
    expect(JSON.stringify(objectOf(trail))).toContain('"user":"ana"')
  }, 120_000)

  test('what was typed before the session ended is in the form again after signing in', async () => {
    const id = await trigger('01JENDED')
    const page = await signIn('bo', { viewport: PHONE })
    for (const path of [`/ui/approvals/${id}`, '/ui/account']) {
      await page.goto(`${url()}${path}`)
      const field = path === '/ui/account' ? '#reason' : '#comment'
      const text = `checked "all" <b>of</b> it at ${path}`
      await page.fill(field, text)
      if (path === '/ui/account') {
        await page.fill('#to', 'ana')
        await page.fill('#until', new Date(Date.now() + 172_800_000).toISOString().slice(0, 10))
      }
      await page.context().clearCookies()
      await page.click('main form:has(input, textarea) button >> nth=0')
      await page.waitForSelector('h2:has-text("Your input")')
      await page.fill('#token', 'token-of-bo')
      await page.press('#token', 'Enter')
      await page.waitForURL(`${url()}${path}`)
      expect(await page.inputValue(field)).toBe(text)
      await page.reload()
      expect(await page.inputValue(field)).toBe('')
    }
  }, 60_000)

  test('a withdrawal needs a confirmation, and what was typed is kept', async () => {
    const id = await trigger('01JWITHDRAW')
    const page = await signIn('bo', { viewport: DESKTOP })
    await page.goto(`${url()}/ui/approvals/${id}`)
    await page.fill('#comment', 'a wrong version')
    await page.click('button[value="cancel"]')
    await page.waitForSelector('h1:has-text("Withdraw this approval?")')
    await page.click('text="Keep it"')
    expect(await page.inputValue('#comment')).toBe('a wrong version')
    await page.click('button[value="cancel"]')
    await page.waitForSelector('h1:has-text("Withdraw this approval?")')
    await page.click('text="Withdraw" >> nth=-1')
    await page.waitForSelector('.badge:has-text("withdrawn")')
  }, 60_000)

  test('an approval shows what it is about and what changed since the last approved run', async () => {
    const page = await signIn('bo', { viewport: DESKTOP, timezoneId: 'Asia/Tokyo' })
    await page.goto(`${url()}/ui/approvals/${ids().approval}`)
    const shown = await page.textContent('section.verdict')
    for (const text of [
      'prod-rollout',
      'Approve the release',
      'registry.example.org/shop',
      '1.5.0',
      '1.4.0',
      'blue',
    ])
      expect(shown).toContain(text)
    const time = page.locator('time').first()
    const [local, utc] = [await time.textContent(), await time.getAttribute('title')]
    expect(utc).toMatch(/ UTC$/)
    expect(new Date(`${local?.replace(' ', 'T') ?? ''}+09:00`).getTime()).toBe(Date.parse(utc ?? ''))
    await page.click(`a:has-text("${EXECUTION}")`)
    await page.waitForSelector('h1:has-text("Execution of prod-rollout")')
  }, 60_000)

  test('an open home page shows a new approval by itself', async () => {
    const page = await signIn('bo', { viewport: DESKTOP })
    await page.waitForSelector('text="This page updates by itself."')
    const id = await trigger('01JLIVE')
    await page.waitForSelector(`a:has-text("Release, ${id}")`, { timeout: 30_000 })
  }, 60_000)

  test('an auditor verifies the trail, narrows it down, and exports it', async () => {
    const page = await signIn('eve', { viewport: DESKTOP, acceptDownloads: true })
    await page.click('nav >> text=Trail')
    await page.click('button:has-text("Verify")')
    await page.waitForSelector('.badge:has-text("intact")')
    await page.goto(`${url()}/ui/trail?source=gate`)
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(2)
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('a:has-text("CSV")')])
    expect(download.suggestedFilename()).toBe('trail.csv')
  }, 60_000)
})
