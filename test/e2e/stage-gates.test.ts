import { createHash } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { RUNTIME, as, formOf, useStageFormService } from '../support/stage-form-service.js'
import type { Numbers } from '../support/stage-form-service.js'
import { startTidegate } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const METRICS = {
  templateName: 'app-metric',
  data: {
    groups: [{ group: 'speed', metrics: [{ name: '${version}.csv#latency', riskDirection: 'Higher' }] }],
  },
}

const { get, savePipeline, send, stepA, stepC, url } = useStageFormService()

describe('a stage whose form has chosen', () => {
  test('a policy is sent to it', async () => {
    const numbers = await stepA('deploy', 'Hours', 'policy')
    expect(numbers.isCustomGateFound).toBe(false)
    const [policy] = (await get('/oes/v2/policy/users/cy/runtime')) as { policyId: number }[]
    const form = formOf(numbers, 'Hours', 'policy', {
      policyId: policy?.policyId,
      policyName: 'runtime/hours',
    })
    const made = await send('POST', `/dashboardservice/v4/pipelines/${numbers.pipelineId}/gates`, form)
    expect([made.status, made.text]).toEqual([200, made.text])
    const { id, approvalGateId } = objectOf(made)
    expect([Number.isInteger(id), approvalGateId]).toEqual([true, id])
    const found = await stepC('deploy', 'Hours', 'policy')
    expect(objectOf(found)).toMatchObject({ gateId: id, policyUrl: '/policy/runtime/hours' })
    const { pathname } = new URL(String(objectOf(found)['gateUrl']))
    const flat = { startTime: 1, application: 'shop', name: 'deploy', stage: 'Hours', executionId: '01J' }
    const body = { ...flat, gateId: id, trigger: { user: 'cy' }, payloadConstraint: [] }
    expect((await send('POST', pathname, body)).status).toBe(200)
    expect((await send('POST', pathname, { ...body, closed: true })).status).toBe(401)
    expect((await stepA('deploy', 'Hours', 'policy')).isCustomGateFound).toBe(true)
  })

  test('groups, a connector and an automated approval gets a gate with them', async () => {
    const numbers = await stepA('deploy', 'Approve', 'approval')
    const path = `/dashboardservice/v4/pipelines/${numbers.pipelineId}/gates`
    const chosen = {
      isAutomatedApproval: true,
      approvalGatePolicies: [{ policyId: 1, policyName: 'runtime.hours' }],
    }
    const form = formOf(numbers, 'Approve', 'approval', { approvalGateId: 0, ...chosen })
    const gate = Number(objectOf(await send('POST', path, form))['approvalGateId'])
    const groups = {
      globalPermissionsEnabled: false,
      userGroups: [
        {
          userGroupNames: [{ userGroupId: 1, userGroupName: 'leads', admin: true, superAdmin: false }],
          permissionIds: ['approve_gate'],
        },
      ],
    }
    const permissions = `/platformservice/v6/usergroups/permissions/users/cy/resources/${gate}?featureType=APPROVAL_GATE`
    expect((await send('PUT', permissions, groups)).status).toBe(200)
    const connector = `/visibilityservice/v4/approvalGates/${gate}/connector`
    expect((await send('PUT', connector, { datasourceName: 'tickets' })).status).toBe(200)
    expect((await send('PUT', `${path}/${gate}`, { ...form, id: gate })).status).toBe(200)
    const kept = objectOf(await ask(url(), { path: `/approvalGates/${gate}`, headers: as('ana') }))
    expect(kept).toMatchObject({
      ...{ origin: 'stage', application: 'shop', pipeline: 'deploy', stage: 'Approve' },
      ...{ policy: 'runtime/hours', connectors: ['JIRA'], approvers: { users: [], groups: ['leads'] } },
    })
    expect(objectOf(await stepC('deploy', 'Approve', 'approval'))['gateId']).toBe(gate)
  })

  test('groups is decided by them alone', async () => {
    const numbers = await stepA('deploy', 'Leads', 'approval')
    const made = await send(
      'POST',
      `/dashboardservice/v4/pipelines/${numbers.pipelineId}/gates`,
      formOf(numbers, 'Leads', 'approval'),
    )
    const gate = Number(objectOf(made)['id'])
    const groups = {
      userGroups: [{ userGroupNames: [{ userGroupName: 'leads' }], permissionIds: ['approve_gate'] }],
    }
    await send('PUT', `/platformservice/v6/usergroups/permissions/users/cy/resources/${gate}`, groups)
    const { pathname } = new URL(String(objectOf(await stepC('deploy', 'Leads', 'approval'))['gateUrl']))
    const urls = { approvalCallbackURL: 'http://127.0.0.1:1/y', rejectionCallbackURL: 'http://127.0.0.1:1/n' }
    const triggered = await send('POST', pathname, {
      ...urls,
      executionId: '01L',
      toolConnectorParameters: [],
    })
    expect(triggered.status).toBe(202)
    const review = `/approvalGateInstances/${String(objectOf(triggered)['id'])}/review`
    expect((await send('PUT', review, { action: 'approve' }, as('bo'))).status).toBe(403)
    expect((await send('PUT', review, { action: 'approve' }, as('ana'))).status).toBe(200)
  })

  test('a metric template is analysed by it', async () => {
    const named = `templateType=METRIC&templateName=app-metric`
    const kept = await postJson(url(), `/autopilot/api/v5/external/template?${named}`, METRICS, as('root'))
    expect(kept.status).toBe(201)
    expect(await get('/autopilot/api/v1/applications/12/metricTemplates')).toEqual({
      metricTemplates: [{ templateName: 'app-metric', templateId: 'app-metric' }],
    })
    expect(await get('/autopilot/api/v1/applications/12/logTemplates')).toEqual({ logTemplates: [] })
    const numbers = await stepA('deploy', 'Verify', 'verification')
    expect(numbers.isCustomGateFound).toBe(false)
    const scope = { deploy: { pipelineName: 'deploy', serviceGate: 'Verify' } }
    const body = {
      ...{ application: 'shop', isJsonResponse: true, executionId: '01V' },
      canaryConfig: { lifetimeMinutes: '30' },
      canaryDeployments: [{ baseline: { metric: scope }, canary: { metric: scope } }],
    }
    const register = (): Promise<Answered> => send('POST', '/autopilot/api/v5/registerCanary', body)
    expect(objectOf(await register())['message']).toContain('no metric template missing')
    const form = formOf(numbers, 'Verify', 'verification', { metricTemplateName: 'app-metric' })
    await send('POST', `/dashboardservice/v4/pipelines/${numbers.pipelineId}/gates`, form)
    const registered = await register()
    expect([registered.status, registered.text]).toEqual([202, registered.text])
  })

  test('again configures its gate after the pipeline was saved', async () => {
    await savePipeline('saved')
    await waitUntil(
      async () =>
        ((await get('/pipelines?application=shop&name=saved')) as { pipelines: unknown[] }).pipelines[0],
      () => 'not in the registry',
    )
    const numbers = await stepA('saved', 'Hours', 'policy')
    const path = `/dashboardservice/v4/pipelines/${numbers.pipelineId}/gates`
    await send('POST', path, formOf(numbers, 'Hours', 'policy', { policyName: 'runtime/hours' }))
    expect((await stepA('saved', 'Hours', 'policy')).isCustomGateFound).toBe(true)
    await savePipeline('saved')
    await waitUntil(
      async () => ((await stepA('saved', 'Hours', 'policy')).isCustomGateFound ? undefined : true),
      () => 'the stage is not asked for its form again',
    )
    const again = await send(
      'POST',
      path,
      formOf(numbers, 'Hours', 'policy', { policyName: 'runtime/hours' }),
    )
    expect(again.status).toBe(200)
    expect((await stepA('saved', 'Hours', 'policy')).isCustomGateFound).toBe(true)
  })
})

describe('the form of a stage cannot', () => {
  test.each([
    ['a policy that is not loaded', 'policy', { policyName: 'runtime/other', policyId: 5 }, 400],
    ['a static policy', 'policy', { policyName: 'static/none' }, 400],
    ['no policy', 'policy', {}, 400],
    [
      'two policies for one approval',
      'approval',
      {
        isAutomatedApproval: true,
        approvalGatePolicies: [{ policyName: 'runtime/hours' }, { policyName: 'runtime/hours' }],
      },
      400,
    ],
    ['an automated approval without a policy', 'approval', { isAutomatedApproval: true }, 400],
  ] as const)('choose %s', async (_, type, more, status) => {
    const numbers = await stepA('deploy', 'Wrong', type)
    const answer = await send(
      'POST',
      `/dashboardservice/v4/pipelines/${numbers.pipelineId}/gates`,
      formOf(numbers, 'Wrong', type, more),
    )
    expect(answer.status).toBe(status)
    expect((await stepC('deploy', 'Wrong', 'policy')).status).toBe(404)
  })

  test('bypass or change declarations of an operator', async () => {
    expect((await stepA('deploy', 'Declared', 'approval')).isCustomGateFound).toBe(true)
    expect((await stepA('deploy', 'Ruled', 'policy')).isCustomGateFound).toBe(true)
    const numbers = await stepA('deploy', 'Declared', 'approval')
    const path = `/dashboardservice/v4/pipelines/${numbers.pipelineId}/gates`
    await send('POST', path, formOf(numbers, 'Declared', 'approval'))
    expect(objectOf(await stepC('deploy', 'Declared', 'approval'))['gateId']).toBe(7)
    const groups = { userGroups: [] }
    const permissions = '/platformservice/v6/usergroups/permissions/users/cy/resources/7'
    expect((await send('PUT', permissions, groups)).status).toBe(409)
    expect((await send('PUT', `${path}/7`, formOf(numbers, 'Declared', 'approval'))).status).toBe(409)
    const connector = '/visibilityservice/v4/approvalGates/7/connector'
    expect((await send('PUT', connector, { datasourceName: 'tickets' })).status).toBe(409)
  })

  test('trigger the gate of a policy as an approval', async () => {
    const { gates } = objectOf(await ask(url(), { path: '/approvalGates' })) as {
      gates: { id: number; type?: string }[]
    }
    const policy = gates.find(({ type }) => type === 'policy')
    const urls = { approvalCallbackURL: 'http://127.0.0.1:1/y', rejectionCallbackURL: 'http://127.0.0.1:1/n' }
    const path = `/visibilityservice/v5/approvalGates/${String(policy?.id)}/trigger`
    const answer = await send('POST', path, { ...urls, executionId: '01P', toolConnectorParameters: [] })
    expect(answer.status).toBe(409)
  })

  test('delete templates, or replace those found by name', async () => {
    const path = '/autopilot/api/v1/applications/12/deleteMetricTemplate/app-metric'
    expect((await ask(url(), { method: 'DELETE', path })).status).toBe(401)
    const named = `templateType=METRIC&templateName=app-metric`
    const other = { ...METRICS, data: { groups: [{ group: 'other', metrics: [{ name: 'x.csv#latency' }] }] } }
    const sha1 = createHash('sha1').update(JSON.stringify(other)).digest('hex')
    const kept = await postJson(url(), `/autopilot/api/v5/external/template?${named}`, other)
    expect([kept.status, objectOf(kept)]).toEqual([201, { status: 'CREATED', sha1 }])
    expect(await get(`/autopilot/api/v5/external/template?${named}&sha1=${sha1}`)).toBe(true)
    const register = async (more: object): Promise<string> => {
      const scope = { one: { template: 'app-metric', version: 'healthy', ...more } }
      const body = {
        application: 'shop',
        canaryDeployments: [{ canary: { metric: scope }, baseline: { metric: scope } }],
      }
      const { canaryId } = objectOf(await send('POST', '/autopilot/api/v5/registerCanary', body))
      return (await ask(url(), { path: `/analysis/${String(canaryId)}`, headers: as('root') })).text
    }
    expect(await register({})).toContain('"speed"')
    expect(await register({ templateSha1: sha1 })).toContain('"other"')
  })
})

test('without gates.fromStages no form creates a gate, and no stage is advised to try', async () => {
  const other = makeWorkspace({ 'policies/hours.rego': RUNTIME })
  const closed = await startTidegate({ workspace: other, config: { gates: { fromStages: false } } })
  try {
    const path =
      '/platformservice/v1/applications/shop/pipelines/p?gateSearch=true&refId=1&gateName=G&gateType=policy'
    const numbers = objectOf(await ask(closed.url, { path }))
    expect(numbers['isCustomGateFound']).toBe(true)
    const form = formOf(numbers as unknown as Numbers, 'G', 'policy', { policyName: 'runtime/hours' })
    const posted = await postJson(
      closed.url,
      `/dashboardservice/v4/pipelines/${String(numbers['pipelineId'])}/gates`,
      form,
    )
    expect([posted.status, posted.text]).toEqual([403, expect.stringContaining('gates.fromStages')])
  } finally {
    await closed.end('SIGTERM')
    other.remove()
  }
})
