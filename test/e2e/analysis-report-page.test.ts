import { describe, expect, test } from 'vitest'

import { PUBLIC_URL, pastCanary, useAnalysisService } from '../support/analysis-service.js'
import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'

const { ended, get, post, url } = useAnalysisService()

function canaryIdOf(answer: Answered): number {
  return Number(objectOf(answer)['canaryId'])
}

describe('the page of a run', () => {
  test('is open to anyone with its link, and loads nothing', async () => {
    const status = await ended(canaryIdOf(await post('/autopilot/registerCanary', pastCanary('slow'))))
    const link = (status['canaryResult'] as { canaryReportURL: string }).canaryReportURL
    expect(link.startsWith(`${PUBLIC_URL}/analysis/report/`)).toBe(true)
    const path = link.slice(PUBLIC_URL.length)
    const page = await ask(url(), { path })
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.text).toMatch(/^<!doctype html>/i)
    expect(page.text).toContain('latency')
    expect(page.text.match(/(?:src|href|url|action)\s*[=(]\s*["']?(?!#)[^"'\s>]*/gi) ?? []).toEqual([])
    expect(page.text).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/i)
    expect((await ask(url(), { path: `${path}/service-7` })).status).toBe(200)
    expect((await ask(url(), { path: path.slice(0, -1) })).status).toBe(403)
    const tampered = path.replace(/(?<=\/)\d{13}(?=-)/, (end) => String(Number(end) + 1))
    expect((await ask(url(), { path: tampered })).status).toBe(403)
    const other = canaryIdOf(await post('/autopilot/registerCanary', pastCanary('slow')))
    expect((await ask(url(), { path: path.replace(/\d+(?=\/\d{13}-)/, String(other)) })).status).toBe(403)
    expect((await ask(url(), { path: path.replace(/\d+(?=\/\d{13}-)/, '99999') })).status).toBe(403)
  })

  test('has a link that ends after thirty days', async () => {
    const answer = await post('/autopilot/registerCanary', { application: 'shop' })
    const given = answer.headers['x-opsmx-report-token']
    const status = objectOf(await get(`/autopilot/canaries/${canaryIdOf(answer)}`))
    expect((status['canaryResult'] as { canaryReportURL: string }).canaryReportURL).toContain(
      '/analysis/report/',
    )
    const daysLeft = (Number(String(given).split('-')[0]) - Date.now()) / 86_400_000
    expect(daysLeft).toBeGreaterThan(29.9)
    expect(daysLeft).toBeLessThan(31.1)
  })

  test('is shown to a browser with a token, before the first interval too', async () => {
    const id = canaryIdOf(await post('/autopilot/registerCanary', { application: 'shop' }))
    const page = await get(`/analysis/${id}`, 'eve', { accept: 'text/html,application/xhtml+xml' })
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.text).toMatch(/^<!doctype html>/i)
  })

  test('may load, send, frame and leak nothing, by its link and with a token', async () => {
    const id = canaryIdOf(await post('/autopilot/registerCanary', { application: 'shop' }))
    const status = objectOf(await get(`/autopilot/canaries/${id}`))
    const link = (status['canaryResult'] as { canaryReportURL: string }).canaryReportURL
    const path = link.slice(PUBLIC_URL.length)
    const pages = [
      await ask(url(), { path }),
      await ask(url(), { path: `${path}/shop` }),
      await get(`/analysis/${id}`, 'eve', { accept: 'text/html' }),
    ]
    for (const { status: code, headers } of pages) {
      expect(code).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      const policy = String(headers['content-security-policy']).split('; ').sort()
      expect(policy).toEqual([
        "base-uri 'none'",
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "style-src 'unsafe-inline'",
      ])
      expect(headers['referrer-policy']).toBe('no-referrer')
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })
})
