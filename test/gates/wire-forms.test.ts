import { describe, expect, test } from 'vitest'

import { contractTime } from '../../src/gates/instances/instance-view.js'
import { MAX_ID } from '../../src/store/ports/gate.js'
import { idsOfNames } from '../../src/gates/definitions/pipeline-numbers.js'
import { contractStatus, pluginStatus } from '../../src/gates/instances/status-words.js'
import {
  ContractTriggerBody,
  PluginTriggerBody,
  requireAllowedCallbacks,
} from '../../src/gates/triggering/trigger-body.js'
import { pathWords } from '../../src/http/routes/gates/gate-lookup.js'
import { NOW_MS } from '../support/gates.js'

describe('the words of a status', () => {
  test.each([
    ['not_activated', 'not activated', 'not activated'],
    ['activated', 'activated', 'activated'],
    ['approved', 'approved', 'approved'],
    ['rejected', 'rejected', 'rejected'],
    ['canceled', 'rejected', 'canceled'],
    ['expired', 'rejected', 'rejected'],
  ] as const)('%s is %s in the contract and %s for the plugins', (state, contract, plugin) => {
    expect([contractStatus(state), pluginStatus(state)]).toEqual([contract, plugin])
  })
})

test('a time is written as the contract shows it', () => {
  expect(contractTime(NOW_MS + 7)).toBe('2026-03-01 12:00:00.007.Z')
})

describe('the body of a trigger', () => {
  const plugin = {
    approvalCallbackURL: 'http://oes-platform:8095/callbackurl',
    rejectionCallbackURL: 'http://oes-platform:8095/rejectionbackurl',
    executionId: '01J',
    toolConnectorParameters: [{ connectorType: 'JIRA', parameters: [] }],
    customConnectorData: [],
    payloadConstraint: [{ region: 'eu' }],
  }

  test('of the plugins is taken whole, with all that it says beside', () => {
    expect(PluginTriggerBody.parse(plugin)).toEqual(plugin)
  })

  test('of the contract may hold texts, numbers and lists alike', () => {
    const body = {
      ...plugin,
      executionId: 17,
      toolConnectorParameters: '',
      imageIds: ['a'],
      connectorType: 'JIRA',
    }
    expect(ContractTriggerBody.parse(body)).toEqual({ ...body, executionId: '17' })
  })

  test('of the contract must have all six members', () => {
    const result = ContractTriggerBody.safeParse({})
    expect(result.error?.issues.map(({ path }) => path.join('.'))).toEqual([
      'executionId',
      'approvalCallbackURL',
      'rejectionCallbackURL',
      'toolConnectorParameters',
      'imageIds',
      'connectorType',
    ])
  })

  test.each([null, '', '  '])('has no use for the execution %j', (executionId) => {
    expect(PluginTriggerBody.safeParse({ ...plugin, executionId }).success).toBe(false)
  })

  test('has words of up to 4,096 characters', () => {
    const parse = (length: number) =>
      PluginTriggerBody.safeParse({ ...plugin, executionId: 'x'.repeat(length) })
    expect([parse(4096).success, parse(4097).success]).toEqual([true, false])
  })

  test('must not call back where nothing may be called, and says so of both URLs', () => {
    const refused = { ...plugin, approvalCallbackURL: 'http://127.0.0.1/', rejectionCallbackURL: 'ftp://x' }
    const policy = { allowLoopback: false, allowPrivate: false }
    const check = (body: typeof plugin) => () =>
      requireAllowedCallbacks(PluginTriggerBody.parse(body), policy)
    expect(check(plugin)).not.toThrow()
    expect(check(refused)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'callback_not_allowed',
        details: [
          expect.objectContaining({ message: expect.stringMatching(/^approvalCallbackURL: /) as string }),
          expect.objectContaining({ message: expect.stringMatching(/^rejectionCallbackURL: /) as string }),
        ],
      }) as Error,
    )
  })
})

test('numbers of names are the same at every call, fit a Java int, and ignore the case of an application', () => {
  const ids = idsOfNames('shop', 'prod')
  expect(idsOfNames('SHOP', 'prod')).toEqual(ids)
  expect(idsOfNames('shop', 'test').applicationId).toBe(ids.applicationId)
  expect(idsOfNames('shop', 'test').pipelineId).not.toBe(ids.pipelineId)
  for (const id of Object.values(ids)) expect(id > 0 && id <= MAX_ID && Number.isInteger(id)).toBe(true)
})

describe('a path that the plugins build', () => {
  test.each([
    ['/a/prod+roll%2Fout/x%2By', ['a', 'prod roll/out', 'x+y']],
    ['/a/%C3%BC%20b', ['a', 'ü b']],
  ])('%s is form-encoded in each segment', (path, words) => {
    expect(pathWords(path)).toEqual(words)
  })

  test('with a broken escape is refused', () => {
    expect(() => pathWords('/a/%zz')).toThrow('broken percent escape')
  })
})
