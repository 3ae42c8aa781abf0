import { describe, expect, test } from 'vitest'

import { fetchedEvidence, useToolServer } from '../../support/connector-account.js'
import {
  jenkinsDocuments,
  jiraDocuments,
  servicenowDocuments,
  sonarqubeDocuments,
} from './recorded-documents.js'

const { fetchFrom, seen } = useToolServer()

describe('evidence', () => {
  test('of Jira is the state of each issue', async () => {
    const { evidence, asked, origin } = await fetchFrom(jiraDocuments, 'jira', {
      jira_ticket_no: ['OPS-12', 'ops-13'],
    })
    expect(evidence).toEqual(
      fetchedEvidence('JIRA', [
        {
          jiraId: 'OPS-12',
          status: 'Done',
          priority: 'Highest',
          summary: 'Raise the tide gate',
          type: 'Story',
          assignee: 'Ana Costa',
          resolution: 'Done',
          updated: '2026-01-01T10:00:00.000+0000',
          url: `${origin}/browse/OPS-12`,
        },
        {
          jiraId: 'OPS-13',
          status: 'In Progress',
          priority: null,
          summary: 'Grease the hinges',
          type: 'Task',
          assignee: null,
          resolution: null,
          updated: '2026-01-01T11:00:00.000+0000',
          url: `${origin}/browse/OPS-13`,
        },
      ]),
    )
    expect(asked[0]).toBe(
      '/rest/api/2/issue/OPS-12?fields=summary,status,priority,issuetype,assignee,resolution,updated',
    )
  })

  test('of ServiceNow is the state and approval of each change', async () => {
    const { evidence, asked, origin } = await fetchFrom(servicenowDocuments, 'servicenow', {
      number: ['chg0030001'],
    })
    expect(evidence).toEqual(
      fetchedEvidence('SERVICENOW', [
        {
          number: 'CHG0030001',
          state: 'Scheduled',
          approval: 'Approved',
          risk: 'Moderate',
          priority: '3 - Moderate',
          type: 'Normal',
          summary: 'Roll out shop 1.4',
          assignee: 'Bo Lind',
          startDate: '2026-01-02 08:00:00',
          endDate: '',
          url: `${origin}/nav_to.do?uri=change_request.do%3Fsys_id%3Dc83c5e5347c12200e0ef563dbb9a7190`,
        },
      ]),
    )
    expect(asked[0]).toContain('/api/now/table/change_request?sysparm_query=number=CHG0030001&')
  })

  test('of Jenkins is the result of a build of a job in folders', async () => {
    const parameters = { job: ['shop team/build'], buildId: ['118'], artifact: ['shop.tar.gz'] }
    const { evidence, asked } = await fetchFrom(jenkinsDocuments, 'jenkins', parameters)
    expect(evidence).toEqual(
      fetchedEvidence('JENKINS', [
        {
          job: 'shop team/build',
          buildId: '118',
          result: 'SUCCESS',
          building: false,
          startedAt: 1_767_225_600_000,
          durationMs: 63_210,
          displayName: 'shop team » build #118',
          artifacts: ['target/shop.tar.gz'],
          url: 'https://jenkins.example.org/job/shop%20team/job/build/118/',
        },
      ]),
    )
    expect(asked[0]).toContain('/job/shop team/job/build/118/api/json?tree=id,number,result,')
  })

  test('of a Jenkins build without the artifact that is asked for is missing', async () => {
    const parameters = { job: ['shop team/build'], buildId: ['118'], artifact: ['other.tar.gz'] }
    const { evidence } = await fetchFrom(jenkinsDocuments, 'jenkins', parameters)
    expect(evidence).toMatchObject({
      state: 'failed',
      output: [],
      error: 'shop team/build 118: the build has no artifact other.tar.gz',
    })
  })

  test('of a running Jenkins build has no result yet', async () => {
    const { evidence } = await fetchFrom(jenkinsDocuments, 'jenkins', {
      job: ['build'],
      buildId: ['lastBuild'],
    })
    expect(evidence).toMatchObject({
      state: 'fetched',
      output: [{ buildId: '7', result: null, building: true }],
    })
  })

  test('of SonarQube is the quality gate with ratings as letters', async () => {
    const { evidence, asked, origin } = await fetchFrom(sonarqubeDocuments, 'sonarqube', {
      projectKey: ['org.example:shop'],
    })
    expect(evidence).toEqual(
      fetchedEvidence('SONARQUBE', [
        {
          projectKey: 'org.example:shop',
          name: 'Shop',
          qualityGate: 'ERROR',
          bugs: 3,
          vulnerabilities: 0,
          codeSmells: 41,
          coverage: 81.5,
          duplicatedLines: null,
          reliabilityRating: 'E',
          securityRating: 'A',
          maintainabilityRating: 'B',
          failedConditions: [{ metricKey: 'new_coverage', actualValue: '71.2', errorThreshold: '80' }],
          url: `${origin}/dashboard?id=org.example%3Ashop`,
        },
      ]),
    )
    expect(asked.toSorted()[1]).toBe('/api/qualitygates/project_status?projectKey=org.example:shop')
  })

  test('of a project that SonarQube never analysed is missing rather than free of bugs', async () => {
    const { evidence } = await fetchFrom(sonarqubeDocuments, 'sonarqube', { projectKey: ['fresh'] })
    expect(evidence).toMatchObject({
      state: 'failed',
      output: [],
      error: 'fresh: the project has no bugs, reliability_rating, security_rating yet',
    })
  })

  test('of any other service is what it answers, once for each value', async () => {
    const documents = { '/images/a/b:1': { severity: 'low' }, '/images/c': [{ severity: 'high' }, 'text'] }
    const { evidence } = await fetchFrom(documents, 'http', { imageId: ['a/b:1', 'c'] }, '/images/{imageId}')
    expect(evidence).toEqual(
      fetchedEvidence('HTTP', [{ severity: 'low' }, { severity: 'high' }, { value: 'text' }]),
    )
    expect(
      seen()
        ?.map(({ url }) => url)
        .toSorted(),
    ).toEqual(['/images/a%2Fb%3A1', '/images/c'])
  })

  test('of a Jenkins build that says nothing of artifacts has none', async () => {
    const key = '/job/shop team/job/build/118/api/json'
    const documents = { [key]: { ...(jenkinsDocuments[key] as object), artifacts: null } }
    const { evidence } = await fetchFrom(documents, 'jenkins', { job: ['shop team/build'], buildId: ['118'] })
    expect(evidence.output).toMatchObject([{ buildId: '118', artifacts: [] }])
  })

  test('of a project whose SonarQube says nothing of conditions has no failed ones', async () => {
    const key = '/api/qualitygates/project_status?projectKey=org.example:shop'
    const documents = { ...sonarqubeDocuments, [key]: { projectStatus: { status: 'OK', conditions: null } } }
    const { evidence } = await fetchFrom(documents, 'sonarqube', { projectKey: ['org.example:shop'] })
    expect(evidence.output).toMatchObject([{ qualityGate: 'OK', failedConditions: [] }])
  })

  test.each([
    ['the answer', '/state', {}],
    ['a/b:1 z', '/images/{image}?w={watch}', { image: ['a/b:1'], watch: ['z'] }],
  ])('of any other service that is missing is told as %s', async (subject, path, parameters) => {
    const { evidence } = await fetchFrom({}, 'http', parameters, path)
    expect(evidence).toMatchObject({ state: 'failed', output: [] })
    expect(evidence.error).toMatch(new RegExp(`^${subject}: there is none`))
  })

  test('of any other service joins values of several parameters by their position', async () => {
    const documents = { '/x/a/1?w=z': { is: 'first' }, '/x/a/2?w=z': { is: 'second' } }
    const parameters = { plan: ['a', 'a'], build: ['1', '2'], watch: ['z'] }
    const { evidence } = await fetchFrom(documents, 'http', parameters, '/x/{plan}/{build}?w={watch}')
    expect(evidence).toEqual(fetchedEvidence('HTTP', [{ is: 'first' }, { is: 'second' }]))
  })
})
