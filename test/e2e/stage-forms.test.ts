import { describe, expect, test } from 'vitest'

import { useStageFormService } from '../support/stage-form-service.js'
import { waitUntil } from '../support/wait-until.js'

const { get, savePipeline, stepA } = useStageFormService()

describe('data for the editors of stages', () => {
  test('of connectors: fields, types and accounts, without a secret', async () => {
    const fields = (await get('/visibilityservice/v6/getAllConnectorFields')) as {
      connectorType: string
      supportedParams: { name: string }[]
    }[]
    expect(fields.map(({ connectorType }) => connectorType)).toEqual(['JIRA', 'AQUAWAVE'])
    expect(fields.map(({ supportedParams }) => supportedParams.map(({ name }) => name))).toEqual([
      ['jira_ticket_no'],
      ['imageId'],
    ])
    for (const form of fields) {
      expect(form).toMatchObject({ helpText: expect.any(String) as string, isMultiSupported: true })
      for (const field of form.supportedParams) expect(Object.keys(field)).toContain('type')
    }
    expect(await get('/visibilityservice/v2/toolConnectors/configuredConnectorTypes')).toEqual({
      JIRA: 'Jira',
      AQUAWAVE: 'AQUAWAVE',
    })
    for (const user of ['ana', '[anonymous]', '%5Banonymous%5D'])
      expect(
        await get(`/platformservice/v6/users/${user}/datasources?datasourceType=jira&permissionId=view`),
      ).toEqual([{ name: 'tickets', datasourceType: 'JIRA', configurationFields: { token: '' } }])
  })

  test('of policies: those that state a verdict and are neither static nor libraries', async () => {
    const policies = await get('/oes/v2/policy/users/ana/runtime?permissionId=view')
    expect(policies).toEqual([
      {
        policyId: expect.any(Number) as number,
        policyName: 'runtime/hours',
        description: 'The package runtime.hours',
      },
    ])
    expect((policies as { policyId: number }[])[0]?.policyId).toBeGreaterThan(0)
  })

  test('of groups and environments, with numbers that stay the same', async () => {
    expect(await get('/platformservice/v2/usergroups')).toEqual([
      {
        userGroupId: expect.any(Number) as number,
        userGroupName: 'leads',
        isAdmin: false,
        isSuperAdmin: false,
      },
    ])
    const environments = await get('/oes/accountsConfig/spinnaker/environments')
    expect(environments).toMatchObject([
      { spinnakerEnvironment: 'Prod' },
      { spinnakerEnvironment: 'staging' },
    ])
    expect(await get('/oes/accountsConfig/spinnaker/environments')).toEqual(environments)
  })

  test('of applications: the number by the name, and by the number the pipelines that a URL can name', async () => {
    await savePipeline('rollout')
    for (const name of ['with blank', 'a/b', 'a?b', 'a#b', '100%', 'a|b']) await savePipeline(name)
    await savePipeline('z+b-\u00fc')
    const { applicationId } = (await get('/platformservice/v2/applications/name/shop')) as {
      applicationId: number
    }
    const services = await waitUntil(
      async () => {
        const shown = (await get(`/platformservice/v4/applications/${applicationId}`)) as {
          services: { serviceName: string }[]
        }
        return shown.services.length > 1 ? shown.services : undefined
      },
      () => 'the registry is empty',
    )
    expect(services).toMatchObject([
      { serviceName: 'rollout', pipelines: [{ pipelineName: 'rollout' }] },
      { serviceName: 'z+b-\u00fc' },
    ])
    const numbers = await stepA('rollout', 'Any', 'policy')
    expect(services[0]).toMatchObject({
      ...{ serviceId: numbers.pipelineId, pipelines: [{ pipelineId: numbers.pipelineId }] },
    })
  })

  test('requests of the gateway before it relays anything', async () => {
    expect(await get('/platformservice/v6/users/ana/features/APP')).toEqual({ isEnabled: 'true' })
    expect(await get('/platformservice/v6/users/ana/features/APP/12/permission')).toEqual({
      permissions: ['view', 'edit'],
    })
    expect(
      await get('/platformservice/v6/users/ana/feature?permission=runtime_access&approvalGateId=7'),
    ).toEqual({ isEnabled: 'true' })
    await get('/v1/opa/failOpen?timeOutSeconds=10&policyName=hours')
  })
})
