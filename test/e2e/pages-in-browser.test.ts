import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { findProgram } from '../support/find-program.js'
import { ask, objectOf } from '../support/http-client.js'
import { usePageService } from '../support/page-service.js'

const CHROMIUM = findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome')
if (CHROMIUM === undefined) process.stderr.write('Chromium is not installed: the pages are not tried in it\n')
/** Folder for screenshots of the pages. */
const SHOTS = process.env['PAGE_SHOTS']

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 375, height: 740 }

describe.skipIf(CHROMIUM === undefined)('in a browser', () => {
  const { trigger, url } = usePageService()
  let browser: Browser
  let other: Server
  let otherUrl = ''
  let target = ''
  beforeAll(async () => {
    // A page of another site that embeds our page in a frame and submits our form.
    other = createServer((request, response) => {
      response.setHeader('content-type', 'text/html')
      if (request.url === '/frame')
        response.end(`<iframe src="${url()}/ui" width="600" height="400"></iframe>`)
      else if (request.url === '/link') response.end(`<a id="go" href="${url()}/ui">look at this</a>`)
      else
        response.end(
          `<form method="post" action="${target}"><input name="action" value="reject"><input name="formToken" value="guess"></form><script>document.forms[0].submit()</script>`,
        )
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    otherUrl = `http://localhost:${(other.address() as AddressInfo).port}`
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    other.close()
  })

  const shoot = async (page: Page, name: string): Promise<void> => {
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
  }
  const signedIn = async (context: BrowserContext, name: string): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(`${url()}/ui`)
    await page.fill('#token', `token-of-${name}`)
    await page.click('text="Sign in" >> nth=-1')
    await page.waitForURL(`${url()}/ui`)
    return page
  }
  const isTooWide = (page: Page): Promise<boolean> =>
    page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
  const statusOf = async (id: number): Promise<unknown> =>
    objectOf(await ask(url(), { path: `/approvalGateInstances/${id}/status` }))['status']

  test.each([
    ['desktop', DESKTOP, 'light'],
    ['phone', PHONE, 'dark'],
  ] as const)(
    'a person signs in, reads and decides without a script, at the width of a %s',
    async (device, viewport, colorScheme) => {
      const id = await trigger(`browser-${device}`)
      const context = await browser.newContext({ viewport, colorScheme, javaScriptEnabled: false })
      const first = await context.newPage()
      await first.goto(`${url()}/ui/plugin-isd/approval/shop/any/7/fromPlugin?instanceId=${id}`)
      await shoot(first, `sign-in-${device}`)
      expect(await isTooWide(first)).toBe(false)
      await first.fill('#token', 'token-of-ana')
      await first.press('#token', 'Enter')
      await first.waitForSelector('h1:has-text("Release")')
      expect(new URL(first.url()).search).toBe(`?instanceId=${id}`)
      await shoot(first, `approval-${device}`)
      expect(await isTooWide(first)).toBe(false)
      await first.fill('#comment', 'looks good to me')
      await first.click('button[value="approve"]')
      await first.waitForURL(`${url()}/ui/approvals/${id}`)
      expect(await first.textContent('main')).toContain('looks good to me')
      await shoot(first, `approval-decided-${device}`)
      await first.click('nav >> text=Approvals')
      await first.waitForSelector('h2:has-text("Waiting")')
      await shoot(first, `approvals-${device}`)
      expect(await isTooWide(first)).toBe(false)
      await first.goto(`${url()}/ui/plugin-isd/policy/release/approval`)
      await shoot(first, `policy-${device}`)
      expect(await isTooWide(first)).toBe(false)
      await first.click('text="Sign out"')
      await first.waitForSelector('#token')
      await first.goto(`${url()}/ui/approvals/999`)
      expect(await first.locator('#token').count()).toBe(1)
      await context.close()
    },
    60_000,
  )

  test('no foreign text runs as code', async () => {
    const id = await trigger('browser-markup')
    const context = await browser.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'ana')
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    for (const path of ['/', '/ui/approvals', `/ui/approvals/${id}`, '/ui/policies/release/approval']) {
      await page.goto(`${url()}${path}`)
      expect(await page.title()).not.toContain('taken over')
      expect(await page.locator('script').count()).toBe(1)
      expect(await page.locator('img').count()).toBe(0)
    }
    expect(complaints).toEqual([])
    await context.close()
  }, 60_000)

  test.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ])(
    'a long text without blanks hides nothing next to it, at the width of a %s',
    async (device, viewport) => {
      const id = await trigger(`${device}-${'x'.repeat(280)}`)
      const context = await browser.newContext({ viewport })
      const page = await signedIn(context, 'ana')
      for (const path of ['/', '/ui/approvals', `/ui/approvals/${id}`]) {
        await page.goto(`${url()}${path}`)
        const hides =
          '[...document.querySelectorAll(".wide")].filter((of) => of.scrollWidth > of.clientWidth).length'
        expect([path, await isTooWide(page), await page.evaluate(hides)]).toEqual([path, false, 0])
      }
      await context.close()
    },
    60_000,
  )

  test('a page of another site neither shows ours in a frame nor sends our form', async () => {
    const id = await trigger('browser-attack')
    target = `${url()}/ui/approvals/${id}`
    const context = await browser.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'ana')
    await page.goto(`${otherUrl}/`)
    await page.waitForURL(target)
    expect(await page.content()).not.toContain('<h2>Reviews')
    expect(await statusOf(id)).toBe('activated')
    await page.goto(`${otherUrl}/frame`)
    await page.waitForTimeout(300)
    const framed = page.frames().find((frame) => frame !== page.mainFrame())
    expect(await framed?.locator('main').count()).toBe(0)
    await context.close()
  }, 60_000)

  test('a link from another site leads to the page of the signed-in user', async () => {
    const context = await browser.newContext({ viewport: DESKTOP })
    const page = await signedIn(context, 'ana')
    await page.goto(`${otherUrl}/link`)
    await page.click('#go')
    await page.waitForSelector('h1:has-text("Home")', { timeout: 15_000 })
    await context.close()
  }, 60_000)
})
