import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'

import { readCanaryConfig } from '../../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../../src/canary/judge/judge-run.js'
import { drawRun } from '../../../src/http/analysis-report/run-picture.js'
import { Canvas } from '../../../src/http/analysis-report/canvas.js'

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const control = Array.from({ length: 60 }, (_, n) => 100 + ((n * 7) % 11))
const experiment = control.map((value, n) => (n < 30 ? value : 3 * value))

function pictureOf(
  application: string,
  message: string,
  points = control.length,
): { width: number; height: number; colours: Map<string, number>; edge: ReadonlySet<string> } {
  const metrics = [
    { name: 'passed', values: { control: control.slice(0, points), experiment: control.slice(0, points) } },
    {
      name: 'latency',
      values: { control: control.slice(0, points), experiment: experiment.slice(0, points) },
    },
  ]
  const report = judgeMetrics(readCanaryConfig({ metrics }), { judge: 'default' })
  const series = (values: readonly number[]) => ({ values, startMs: START_MS, stepMs: 60_000 })
  const data = metrics.map(({ values }) => ({
    baseline: series(values.control),
    canary: series(values.experiment),
  }))
  const run = { id: 17, application, message, state: 'COMPLETED', verdict: 'Fail', score: 12 }
  const targets = [{ name: 'shop', metrics: report, logs: undefined }]
  return decoded(
    drawRun({
      ...run,
      report: { targets },
      data: { targets: [{ metrics: data, logs: undefined }] },
    } as never),
  )
}

/** Decodes a PNG: its size, and the number of pixels by colour. */
function decoded(png: Uint8Array) {
  const bytes = Buffer.from(png)
  expect(bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1A\n')
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const at = bytes.indexOf('IDAT')
  const rows = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)))
  expect(rows).toHaveLength(height * (1 + 3 * width))
  const colours = new Map<string, number>()
  const edge = new Set<string>()
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = rows
        .subarray(y * (1 + 3 * width) + 1 + 3 * x)
        .subarray(0, 3)
        .join()
      colours.set(colour, (colours.get(colour) ?? 0) + 1)
      if (x > width - 4) edge.add(colour)
    }
  }
  return { width, height, colours, edge }
}

test('a picture of a run shows its verdict, its reason and both series', () => {
  const { width, height, colours } = pictureOf('shop', 'latency is High')
  expect([width, height]).toEqual([900, 480])
  const verdict = colours.get('193,36,47') ?? 0
  expect(verdict).toBeGreaterThan(8 * 480 + 500)
  expect(colours.get('26,29,33')).toBeGreaterThan(1000)
  for (const side of ['76,120,168', '209,119,26']) expect(colours.get(side)).toBeGreaterThan(800)
})

test.each([
  ['names of other alphabets and endless ones', 'магазин-📦', 'x'.repeat(5000)],
  ['many words', 'a'.repeat(300), 'so it is '.repeat(500)],
])('fits %s', (_, application, message) => {
  expect(pictureOf(application, message).width).toBe(900)
})

test('letters are readable: each has a shape of its own', () => {
  const shapes = Array.from({ length: 94 }, (_, n) => {
    const canvas = new Canvas(6, 8)
    canvas.text(String.fromCharCode(33 + n), [0, 0], 1, [0, 0, 0])
    return canvas.pixels.join()
  })
  expect(new Set(shapes).size).toBe(94)
})

test('the last time at the axis is whole, wherever the window ends', () => {
  const { edge } = pictureOf('shop', 'latency is High', 12)
  expect([...edge]).toEqual(['255,255,255'])
})
