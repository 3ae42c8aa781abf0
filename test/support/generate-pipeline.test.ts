import { describe, expect, test } from 'vitest'

import { generatePipeline } from './generate-pipeline.js'
import { readSample } from './sample-cases.js'

describe('the generated pipeline', () => {
  test.each([
    { stages: 20, kilobytes: 5.6 },
    { stages: 800, kilobytes: 215 },
  ])('of $stages stages is an input of about $kilobytes KB', ({ stages, kilobytes }) => {
    const input = JSON.stringify({ input: { new: generatePipeline(stages) } })
    expect(Buffer.byteLength(input) / 1000).toBeCloseTo(kilobytes, 1)
  })

  test.each([20, 50, 100, 200])('of %i stages is the one kept as a sample', (stages) => {
    expect(readSample('pipelines', `generated-${stages}-stages.json`)).toEqual(generatePipeline(stages))
  })

  test.each([1, 2, 7, 50])('of %i stages depends on earlier stages only', (count) => {
    const { stages } = generatePipeline(count)
    expect(stages.map(({ refId }) => refId)).toEqual(stages.map((_, index) => `${index + 1}`))
    for (const { refId, requisiteStageRefIds } of stages) {
      for (const earlier of requisiteStageRefIds) expect(Number(earlier)).toBeLessThan(Number(refId))
    }
  })
})
