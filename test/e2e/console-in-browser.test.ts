import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { EXECUTION, useConsoleService } from '../support/console-service.js'
import { findProgram } from '../support/find-program.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { as } from '../support/page-service.js'

const CHROMIUM = findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome')
/** Folder for screenshots of the pages. */
const SHOTS = process.env['PAGE_SHOTS']
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }
const MAX_PAGE_BYTES = 150 * 1024

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

describe.skipIf(CHROMIUM === undefined)('the console in a browser', () => {
  const { url, ids, trigger } = useConsoleService()
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  const signedIn = async (context: BrowserContext, name: string): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(`${url()}/`)
    await page.fill('#token', `token-of-${name}`)
    await page.press('#token', 'Enter')
    await page.waitForSelector('h1:has-text("Home")')
    return page
  }
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

  test.each([
    ['desktop', 'light', DESKTOP],
    ['desktop', 'dark', DESKTOP],
    ['phone', 'light', PHONE],
    ['phone', 'dark', PHONE],
  ] as const)(
    'every page is readable on a %s in %s colours',
    async (device, colorScheme, viewport) => {
      const context = await browser!.newContext({ viewport, colorScheme })
      const page = await signedIn(context, 'root')
      for (const [name, path] of pages()) {
        const answer = await page.goto(`${url()}${path}`)
        await shoot(page, `${name}-${device}-${colorScheme}`)
        const isTooWide = await page.evaluate(
          'document.documentElement.scrollWidth > document.documentElement.clientWidth',
        )
        const bytes = gzipSync((await answer?.body()) ?? '').length
        expect([name, await violationsOf(page), isTooWide, bytes < MAX_PAGE_BYTES]).toEqual([
          ...[name, [], false, true],
        ])
        expect(answer?.status()).toBe(name === 'unknown' ? 404 : 200)
        expect(await page.locator('nav a').count()).toBe(9)
      }
      await context.close()
    },
    240_000,
  )

  test.each(['bo', 'al', 'eve', 'ana'])(
    'each section of the menu is readable for the roles of %s, and leads only where they may go',
    async (name) => {
      const context = await browser!.newContext({ viewport: PHONE })
      const page = await signedIn(context, name)
      const links = await page.locator('nav a').all()
      const targets = new Set<string>()
      for (const path of await Promise.all(links.map((link) => link.getAttribute('href')))) {
        const answer = await page.goto(`${url()}${path ?? ''}`)
        const shot = `${name}-${path?.replaceAll('/', '_') ?? ''}.png`
        if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, shot), fullPage: true })
        expect([path, answer?.status(), await violationsOf(page)]).toEqual([path, 200, []])
        for (const link of await page.locator('main a[href^="/"]').all())
          targets.add((await link.getAttribute('href')) ?? '')
      }
      for (const target of targets)
        expect([target, (await page.request.get(`${url()}${target}`)).status()]).toEqual([target, 200])
      await context.close()
    },
    120_000,
  )

  test('an approver decides with the keyboard alone: a comment is required, and the record is in the trail', async () => {
    const id = await trigger('01JKEYBOARD')
    const context = await browser!.newContext({ viewport: PHONE })
    const page = await signedIn(context, 'ana')
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
    await context.close()
  }, 120_000)

  test('what was typed before the session ended is in the form again after signing in', async () => {
    const id = await trigger('01JENDED')
    const context = await browser!.newContext({ viewport: PHONE })
    const page = await signedIn(context, 'bo')
    for (const path of [`/ui/approvals/${id}`, '/ui/account']) {
      await page.goto(`${url()}${path}`)
      const field = path === '/ui/account' ? '#reason' : '#comment'
      const text = `checked "all" <b>of</b> it at ${path}`
      await page.fill(field, text)
      if (path === '/ui/account') {
        await page.fill('#to', 'ana')
        await page.fill('#until', new Date(Date.now() + 172_800_000).toISOString().slice(0, 10))
      }
      await context.clearCookies()
      await page.click('main form:has(input, textarea) button >> nth=0')
      await page.waitForSelector('h2:has-text("Your input")')
      await page.fill('#token', 'token-of-bo')
      await page.press('#token', 'Enter')
      await page.waitForURL(`${url()}${path}`)
      expect(await page.inputValue(field)).toBe(text)
      await page.reload()
      expect(await page.inputValue(field)).toBe('')
    }
    await context.close()
  }, 60_000)

  test('a withdrawal needs a confirmation, and what was typed is kept', async () => {
    const id = await trigger('01JWITHDRAW')
    const context = await browser!.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'bo')
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
    await context.close()
  }, 60_000)

  test('an approval shows what it is about and what changed since the last approved run', async () => {
    const context = await browser!.newContext({ viewport: DESKTOP, timezoneId: 'Asia/Tokyo' })
    const page = await signedIn(context, 'bo')
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
    await context.close()
  }, 60_000)

  /** Replaces the text of the first editor, as a paste does. */
  const paste = async (page: Page, text: string): Promise<void> => {
    await page.locator('.cm-content').first().press('Control+a')
    await page.evaluate(`(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', ${JSON.stringify(text)})
      const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.querySelector('.cm-content').dispatchEvent(paste)
    })()`)
  }
  const shoot = async (page: Page, name: string): Promise<void> => {
    if (SHOTS === undefined) return
    // Editors measure their lines when they are first seen.
    for (const editor of await page.locator('.cm-editor').all()) await editor.scrollIntoViewIfNeeded()
    await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
  }

  test('from a denial to its rule, to an edited policy and to its impact takes four clicks', async () => {
    const context = await browser!.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'eve')
    let clicks = 0
    const click = async (selector: string): Promise<void> => {
      clicks += 1
      await page.click(selector)
    }
    await click('a:has-text("the release names no ticket"), a:has-text("Saturday is a weekend")')
    await click('a:has-text("Why")')
    await click('.card:has-text("is a weekend") >> a:has-text("Edit in the playground")')
    await expect.poll(() => page.evaluate('getSelection().toString()')).toContain('is a weekend')
    await paste(page, (await page.inputValue('#text')).replaceAll('weekend', 'day of rest'))
    await click('button:has-text("Show the impact")')
    await page.waitForSelector('#impact:has-text("denied for other reasons")', { timeout: 60_000 })
    expect(clicks).toBe(4)
    await shoot(page, 'playground-impact')
    expect(await page.textContent('#impact')).toContain('Saturday is a day of rest')
    expect(await page.inputValue('#text')).toContain('day of rest')
    await context.close()
  }, 120_000)

  test('the playground shows the result, the evaluated lines, the rules and the place of a mistake', async () => {
    const context = await browser!.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'eve')
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    const results = page.locator('.results')
    await page.goto(`${url()}/ui/playground?decision=${ids().decision}`)
    const source = await page.inputValue('#text')
    expect(source).toContain('package release.window')
    await paste(page, source.replaceAll('weekend', 'day of rest'))
    await page.fill('#path', 'release/window/deny')
    await page.locator('.cm-content').first().press('Control+Enter')
    await page.waitForSelector('[role="status"]:has-text("Saturday is a day of rest")')
    expect(await results.textContent()).toMatch(/\d of \d lines of this policy were evaluated/)
    expect(await page.locator('.cm-line.covered').count()).toBeGreaterThan(1)
    await shoot(page, 'playground-result')
    await page.click('button:has-text("Explain")')
    await page.waitForSelector('.results .card:has-text("fired")')
    await shoot(page, 'playground-rules')
    await page.selectOption('#from', { label: 'pipeline: prod-rollout of shop' })
    await page.click('button:has-text("Take this input")')
    await expect.poll(() => page.inputValue('#input')).toContain('7c1e0c5e')
    expect(JSON.parse(await page.inputValue('#input'))).toMatchObject({ new: { name: 'prod-rollout' } })
    await paste(page, 'package release.window\n\ndeny contains x if {')
    await page.click('button:has-text("Evaluate")')
    await page.waitForSelector('[role="alert"]')
    await page.waitForSelector('.cm-lint-marker-error')
    await shoot(page, 'playground-mistake')
    expect(await page.locator('.cm-lintRange-error, .cm-lintPoint-error').count()).toBe(1)
    expect(complaints.filter((text) => !text.includes('400'))).toEqual([])
    await context.close()
  }, 120_000)

  test('the keyboard leaves the editor with Escape and Tab, and the script is sent once', async () => {
    const context = await browser!.newContext({ viewport: PHONE })
    const page = await signedIn(context, 'eve')
    const sizes = new Map<string, number>()
    page.on('response', (answer) => {
      if (answer.url().includes('/ui/editor.js'))
        void answer
          .request()
          .sizes()
          .then(({ responseBodySize }) => sizes.set(answer.url(), responseBodySize))
    })
    const answer = await page.goto(`${url()}/ui/playground`)
    const policy = page.locator('.cm-content').first()
    await policy.focus()
    await page.keyboard.press('Tab')
    expect(await policy.evaluate('document.activeElement.className')).toContain('cm-content')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.id')).toBe('path')
    const page0 = gzipSync((await answer?.body()) ?? '').length
    const [script = 0] = sizes.values()
    expect([sizes.size, script > 10_000, page0 + script < MAX_PAGE_BYTES]).toEqual([1, true, true])
    await context.close()
  }, 60_000)

  test('two analyses are compared by metric, with both canaries in one chart', async () => {
    const context = await browser!.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'eve')
    await page.goto(`${url()}/ui/analyses?application=shop`)
    await page.click('button:has-text("Compare")')
    await page.waitForSelector('[role="status"]:has-text("Fail after Success")')
    expect(await page.textContent('main')).toMatch(/1 of 1 metrics/)
    expect(await page.locator('svg path.series').count()).toBe(2)
    await page.click(`a:text-is("${ids().slowAnalysis}")`)
    await page.click(`a:has-text("Compare with analysis ${ids().analysis}")`)
    await page.waitForSelector('h2:has-text("Canaries over time")')
    await context.close()
  }, 60_000)

  test('a running analysis updates its page when it ends', async () => {
    const started = await postJson(url(), '/analysis', { application: 'shop' }, as('root'))
    const { id } = objectOf(started)
    const context = await browser!.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'eve')
    await page.goto(`${url()}/ui/runs/${String(id)}`)
    await page.waitForSelector('text="This page updates by itself."')
    await postJson(url(), `/analysis/${String(id)}/cancel`, {}, as('root'))
    await page.waitForSelector('.badge:has-text("cancelled")')
    expect(await page.locator('[data-refresh]').count()).toBe(0)
    await context.close()
  }, 60_000)

  test('an admin tries a changed definition over past data without storing a verdict', async () => {
    const context = await browser!.newContext({ viewport: DESKTOP, acceptDownloads: true })
    const page = await signedIn(context, 'root')
    await page.goto(`${url()}/ui/analyses/definition?application=shop`)
    const runsNow = async (): Promise<unknown> =>
      objectOf(await ask(url(), { path: '/analysis', headers: as('eve') }))['runs']
    const runs = await runsNow()
    expect(await page.locator('button:has-text("Save")').count()).toBe(0)
    const before = await page.inputValue('#text')
    await paste(page, before.replace('"healthy"', '"slow"'))
    await page.fill('#minutes', '30')
    await page.click('button:has-text("Run without storing")')
    await page.waitForSelector('.verdict.bad:has-text("not stored")', { timeout: 60_000 })
    await shoot(page, 'definition-ran')
    expect(await page.locator('article.card svg').count()).toBeGreaterThan(0)
    expect(await page.inputValue('#minutes')).toBe('30')
    const [saved] = await Promise.all([page.waitForEvent('download'), page.click('text="Download"')])
    expect(saved.suggestedFilename()).toBe('shop.json')
    await paste(page, 'lifetimeMinutes: -1\njudge: nobody\nsurprise: 1\n')
    await page.click('button:has-text("Check")')
    await page.waitForSelector('[role="alert"]')
    await shoot(page, 'definition-problems')
    const problems = await page.textContent('main')
    for (const member of ['lifetimeMinutes', 'judge', 'surprise']) expect(problems).toContain(member)
    expect(await runsNow()).toEqual(runs)
    await page.goto(`${url()}/ui/analyses/definition`)
    await page.fill('#application', 'cart')
    await paste(page, before)
    await page.click('button:has-text("Save")')
    await page.waitForSelector('h1:has-text("Definition of cart")')
    await context.close()
  }, 120_000)

  test('an open home page shows a new approval by itself', async () => {
    const context = await browser!.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'bo')
    await page.waitForSelector('text="This page updates by itself."')
    const id = await trigger('01JLIVE')
    await page.waitForSelector(`a:has-text("Release, ${id}")`, { timeout: 30_000 })
    await context.close()
  }, 60_000)

  test('an auditor verifies the trail, narrows it down, and exports it', async () => {
    const context = await browser!.newContext({ viewport: DESKTOP, acceptDownloads: true })
    const page = await signedIn(context, 'eve')
    await page.click('nav >> text=Trail')
    await page.click('button:has-text("Verify")')
    await page.waitForSelector('.badge:has-text("intact")')
    await page.goto(`${url()}/ui/trail?source=gate`)
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(2)
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('a:has-text("CSV")')])
    expect(download.suggestedFilename()).toBe('trail.csv')
    await context.close()
  }, 60_000)
})
