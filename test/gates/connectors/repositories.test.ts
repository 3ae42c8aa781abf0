import { describe, expect, test } from 'vitest'

import { fetchedEvidence, useToolServer } from '../../support/connector-account.js'
import {
  bitbucketCloudDocuments,
  bitbucketServerDocuments,
  COMMIT,
  githubDocuments,
  gitlabDocuments,
} from './recorded-documents.js'

const { fetchFrom, seen } = useToolServer()

describe('evidence', () => {
  test('of GitHub is a commit with all its checks', async () => {
    const { evidence, asked } = await fetchFrom(githubDocuments, 'github', {
      repo: ['https://github.com/tide/shop.git'],
      commitId: [COMMIT],
    })
    expect(evidence).toEqual(
      fetchedEvidence('GITHUB', [
        {
          kind: 'commit',
          repository: 'tide/shop',
          commitId: COMMIT,
          state: 'failure',
          unfinishedChecks: [
            { name: 'lint', state: 'failure' },
            { name: 'e2e', state: 'pending' },
          ],
          title: 'Raise the gate',
          author: 'Ana Costa',
          authorEmail: 'ana@example.org',
          committedAt: '2026-01-01T09:00:00Z',
          isVerified: true,
          url: `https://github.com/tide/shop/commit/${COMMIT}`,
        },
      ]),
    )
    expect(asked).toContain(`/repos/tide/shop/commits/${COMMIT}/check-runs?per_page=100`)
  })

  test('of a GitHub commit with more checks than a page holds is missing', async () => {
    const key = `/repos/tide/shop/commits/${COMMIT}/status`
    const documents = { ...githubDocuments, [key]: { total_count: 101, statuses: [] } }
    const { evidence } = await fetchFrom(documents, 'github', { repo: ['tide/shop'], commitId: [COMMIT] })
    expect(evidence).toMatchObject({
      state: 'failed',
      error: `tide/shop ${COMMIT}: the commit has more than 100 checks`,
    })
  })

  test('of GitHub is the state of a pull request', async () => {
    const { evidence } = await fetchFrom(githubDocuments, 'github', {
      repo: ['tide/shop'],
      pullRequest: ['17'],
    })
    expect(evidence.output).toEqual([
      {
        kind: 'pullRequest',
        repository: 'tide/shop',
        number: 17,
        state: 'merged',
        isDraft: false,
        mergeState: 'unknown',
        title: 'Raise the gate',
        author: 'ana',
        sourceBranch: 'raise',
        targetBranch: 'main',
        commitId: COMMIT,
        mergeCommitId: 'e5bd3914e2e596debea16f433f57875b5b90bcd6',
        url: 'https://github.com/tide/shop/pull/17',
      },
    ])
  })

  test('of GitLab is a commit with its pipeline, and a merge request', async () => {
    const { evidence, asked } = await fetchFrom(gitlabDocuments, 'gitlab', {
      repo: ['tide/harbour/shop'],
      commitId: [COMMIT],
      mergeRequest: ['5'],
    })
    expect(evidence).toEqual(
      fetchedEvidence('GITLAB', [
        {
          kind: 'commit',
          repository: 'tide/harbour/shop',
          commitId: COMMIT,
          state: 'success',
          pipelineStatus: 'success',
          title: 'Raise the gate',
          author: 'Ana Costa',
          authorEmail: null,
          committedAt: '2026-01-01T09:00:00.000+00:00',
          url: `https://gitlab.example.org/tide/harbour/shop/-/commit/${COMMIT}`,
        },
        {
          kind: 'mergeRequest',
          repository: 'tide/harbour/shop',
          number: 5,
          state: 'open',
          isDraft: false,
          mergeState: 'not_approved',
          pipelineStatus: 'running',
          title: 'Raise the gate',
          author: 'ana',
          sourceBranch: 'raise',
          targetBranch: 'main',
          commitId: COMMIT,
          mergeCommitId: null,
          url: 'https://gitlab.example.org/tide/harbour/shop/-/merge_requests/5',
        },
      ]),
    )
    expect(asked).toContain('/api/v4/projects/tide/harbour/shop/merge_requests/5')
    expect(seen()?.[0]?.url).toContain('/projects/tide%2Fharbour%2Fshop/')
  })

  test('of Bitbucket Cloud is a commit with its builds, and a pull request', async () => {
    const { evidence } = await fetchFrom(
      bitbucketCloudDocuments,
      'bitbucket',
      { repositoryName: ['tide/shop'], commitId: [COMMIT], pullRequest: ['9'] },
      '/2.0',
    )
    expect(evidence).toMatchObject({
      state: 'fetched',
      output: [
        {
          kind: 'commit',
          repository: 'tide/shop',
          commitId: COMMIT,
          state: 'pending',
          unfinishedChecks: [{ name: 'deploy', state: 'pending' }],
          title: 'Raise the gate',
          author: 'Ana Costa <ana@example.org>',
          committedAt: '2026-01-01T09:00:00+00:00',
          url: `https://bitbucket.org/tide/shop/commits/${COMMIT}`,
        },
        {
          kind: 'pullRequest',
          repository: 'tide/shop',
          number: 9,
          state: 'open',
          isDraft: false,
          approvals: 1,
          title: 'Raise the gate',
          author: 'Ana Costa',
          mergeCommitId: null,
          url: 'https://bitbucket.org/tide/shop/pull-requests/9',
          sourceBranch: 'raise',
          targetBranch: 'main',
        },
      ],
    })
  })

  test('of Bitbucket Server is a commit with its builds, and a pull request', async () => {
    const { evidence, asked, origin } = await fetchFrom(
      bitbucketServerDocuments,
      'bitbucket',
      { repositoryName: ['TIDE/shop'], commitId: [COMMIT], pullRequest: ['9'] },
      '/git',
    )
    expect(evidence).toMatchObject({
      state: 'fetched',
      output: [
        {
          kind: 'commit',
          repository: 'TIDE/shop',
          commitId: COMMIT,
          state: 'failure',
          unfinishedChecks: [{ name: 'unit', state: 'failure' }],
          title: 'Raise the gate',
          author: 'ana',
          committedAt: 1_767_225_600_000,
          url: `${origin}/git/projects/TIDE/repos/shop/commits/${COMMIT}`,
        },
        {
          kind: 'pullRequest',
          repository: 'TIDE/shop',
          number: 9,
          state: 'merged',
          isDraft: false,
          approvals: 2,
          title: 'Raise the gate',
          author: 'Ana Costa',
          sourceBranch: 'raise',
          targetBranch: 'main',
          commitId: COMMIT,
          url: 'https://git.example.org/projects/TIDE/repos/shop/pull-requests/9',
        },
      ],
    })
    expect(asked).toContain(`/git/rest/build-status/1.0/commits/${COMMIT}?limit=100`)
  })

  test('of a pull request that Bitbucket Server says little of has null for the rest', async () => {
    const key = Object.keys(bitbucketServerDocuments).find((path) => path.endsWith('/pull-requests/9')) ?? ''
    const documents = { [key]: { id: 9, title: 'Raise the gate', state: 'OPEN' } }
    const parameters = { repositoryName: ['TIDE/shop'], pullRequest: ['9'] }
    const { evidence } = await fetchFrom(documents, 'bitbucket', parameters, '/git')
    expect(evidence.output).toMatchObject([
      { state: 'open', author: null, sourceBranch: null, targetBranch: null, commitId: null, url: null },
    ])
  })
})
