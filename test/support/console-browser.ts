import { join } from 'node:path'

import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'

import { findProgram } from './find-program.js'

export const CHROMIUM =
  findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome')
export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844 }
/** Of a page with its script. */
export const MAX_PAGE_BYTES = 150 * 1024
/** Folder for screenshots of the pages. */
const SHOTS = process.env['PAGE_SHOTS']

/** Opens the home page for the owner of the token of a name, until the test ends. */
type SignIn = (name: string, options: BrowserContextOptions) => Promise<Page>

/** Starts Chromium for the tests of a suite, which sign in at a service. */
export function useBrowser(url: () => string): SignIn {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
  })
  afterAll(() => browser?.close())
  return async (name, options) => {
    const page = await (await browser!.newContext(options)).newPage()
    await page.goto(`${url()}/`)
    await page.fill('#token', `token-of-${name}`)
    await page.press('#token', 'Enter')
    await page.waitForSelector('h1:has-text("Home")')
    return page
  }
}

/** Takes a screenshot if `PAGE_SHOTS` names a folder. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return
  // Editors measure their lines when they are first seen.
  for (const editor of await page.locator('.cm-editor').all()) await editor.scrollIntoViewIfNeeded()
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
}
