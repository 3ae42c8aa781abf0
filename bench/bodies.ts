import { generatePipeline } from '../test/support/generate-pipeline.js'

/** One kind of request: what is asked with which body. */
export interface BenchBody {
  readonly name: string
  readonly path: string
  readonly body: string
}

/** The three bodies of the comparison: 134 bytes, 20 stages (5.6 KB), 800 stages (215 KB). */
export function benchBodies(): BenchBody[] {
  return [
    { name: 'access, 134 B', path: '/v1/data/bench/access/allow', body: accessBody() },
    { name: 'pipeline of 20 stages, 5.6 KB', path: '/v1/data/bench/pipeline/deny', body: pipelineBody(20) },
    { name: 'pipeline of 800 stages, 215 KB', path: '/v1/data/bench/pipeline/deny', body: pipelineBody(800) },
  ]
}

function accessBody(): string {
  return '{"input":{"user":"ana","application":"shop","account":"prod-account","action":"deploy","roles":["dev","ops"],"approved":true,"n":100}}'
}

function pipelineBody(stages: number): string {
  return JSON.stringify({ input: { new: generatePipeline(stages) } })
}
