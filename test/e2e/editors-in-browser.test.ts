import { gzipSync } from 'node:zlib'

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { CHROMIUM, DESKTOP, MAX_PAGE_BYTES, PHONE, shoot, useBrowser } from '../support/console-browser.js'
import { useConsoleService } from '../support/console-service.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { as } from '../support/page-service.js'

describe.skipIf(CHROMIUM === undefined)('the editors of the console in a browser', () => {
  const { url, ids } = useConsoleService()
  const signIn = useBrowser(url)
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

  test('from a denial to its rule, to an edited policy and to its impact takes four clicks', async () => {
    const page = await signIn('eve', { viewport: DESKTOP })
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
  }, 120_000)

  test('the playground shows the result, the evaluated lines, the rules and the place of a mistake', async () => {
    const page = await signIn('eve', { viewport: DESKTOP })
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
  }, 120_000)

  test('the keyboard leaves the editor with Escape and Tab, and the script is sent once', async () => {
    const page = await signIn('eve', { viewport: PHONE })
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
  }, 60_000)

  test('two analyses are compared by metric, with both canaries in one chart', async () => {
    const page = await signIn('eve', { viewport: DESKTOP })
    await page.goto(`${url()}/ui/analyses?application=shop`)
    await page.click('button:has-text("Compare")')
    await page.waitForSelector('[role="status"]:has-text("Fail after Success")')
    expect(await page.textContent('main')).toMatch(/1 of 1 metrics/)
    expect(await page.locator('svg path.series').count()).toBe(2)
    await page.click(`a:text-is("${ids().slowAnalysis}")`)
    await page.click(`a:has-text("Compare with analysis ${ids().analysis}")`)
    await page.waitForSelector('h2:has-text("Canaries over time")')
  }, 60_000)

  test('a running analysis updates its page when it ends', async () => {
    const started = await postJson(url(), '/analysis', { application: 'shop' }, as('root'))
    const { id } = objectOf(started)
    const page = await signIn('eve', { viewport: DESKTOP })
    await page.goto(`${url()}/ui/runs/${String(id)}`)
    await page.waitForSelector('text="This page updates by itself."')
    await postJson(url(), `/analysis/${String(id)}/cancel`, {}, as('root'))
    await page.waitForSelector('.badge:has-text("cancelled")')
    expect(await page.locator('[data-refresh]').count()).toBe(0)
  }, 60_000)

  test('an admin tries a changed definition over past data without storing a verdict', async () => {
    const page = await signIn('root', { viewport: DESKTOP, acceptDownloads: true })
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
    expect(await page.locator('main ul').count()).toBe(0)
    expect(await page.locator('.cm-lint-marker-error').count()).toBe(3)
    expect(await runsNow()).toEqual(runs)
    await page.goto(`${url()}/ui/analyses/definition`)
    await page.fill('#application', 'cart')
    await paste(page, before)
    await page.click('button:has-text("Save")')
    await page.waitForSelector('h1:has-text("Definition of cart")')
  }, 120_000)
})
