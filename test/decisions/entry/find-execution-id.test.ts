import { expect, test } from 'vitest'
import { findExecutionId } from '../../../src/decisions/entry/find-execution-id.js'

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const long = 'x'.repeat(300_000)
/** Many stages that name executions of their own, as an execution carries them. */
const stages = Array.from({ length: 3000 }, (_, n) => ({
  id: `stage-${n}`,
  context: { executionId: `inner-${n}`, note: 'a "quoted" { bracket' },
}))

const named: [string, unknown][] = [
  ['of a flat body', { application: 'shop', executionId: '01J' }],
  ['of a flat body whose payload precedes it', { stages, startTime: 1, executionId: '01J', trigger: {} }],
  ['of a flat body whose payload stands behind it', { executionId: '01J', stages }],
  ['after white space', '{ "executionId" :\n "01J" }'],
  ['with escapes in it', '{"executionId":"\\u0030\\u0031J"}'],
  ['beside texts that look like it', { a: '"executionId":"no"', b: ['executionId'], executionId: '01J' }],
  ['rather than one below it', { trigger: { executionId: 'no' }, executionId: '01J' }],
  ['below another member', { pipeline: { executionId: '01J', stages } }],
  ['of an execution', { execution: { application: 'shop', id: '01J' } }],
  ['of a pipeline with the type of executions', { pipeline: { type: 'PIPELINE', id: '01J', stages } }],
  ['of a pipeline with one trigger', { pipeline: { stages: [{ id: 'no' }], id: '01J', trigger: {} } }],
  ['of a pipeline with a configuration', { pipeline: { id: '01J', pipelineConfigId: 'no' } }],
]

test.each(named)('finds the id %s', (_, input) => {
  expect(findExecutionId(bytes(input))).toBe('01J')
})

const unnamed: [string, unknown][] = [
  ['an input without one', { application: 'shop' }],
  ['an empty one', { executionId: '' }],
  ['one that is no text', { executionId: 12 }],
  ['one that is too long', { executionId: 'x'.repeat(201) }],
  ['one three levels down', { a: { b: { executionId: 'no' } } }],
  ['one in the stages', { stages }],
  ['the id of a definition', { pipeline: { id: 'no', triggers: [{ type: 'pipeline' }] } }],
  ['the id of a definition that is an array', { pipeline: [{ type: 'PIPELINE', id: 'no' }] }],
  ['the id of what stands beside a pipeline', { pipeline: { type: 'PIPELINE' }, new: { id: 'no' } }],
  ['the id of what stands in a pipeline', { pipeline: { type: 'PIPELINE', stages: [{ id: 'no' }] } }],
  ['one far from both ends', `{"a":"${long}","executionId":"no","b":"${long}"}`],
  ['text that is no JSON', '{"a":"\\q","executionId":"no"'],
  ['nothing at all', ''],
]

test.each(unnamed)('finds nothing in %s', (_, input) => {
  expect(findExecutionId(bytes(input))).toBeUndefined()
})
