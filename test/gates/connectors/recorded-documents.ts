/**
 * Responses of the tools in the format of their public documentation, reduced to the members that
 * are read and a few others.
 */
export const COMMIT = '6dcb09b5b57875f334f61aebed695e2e4193db5e'

type Documents = Readonly<Record<string, unknown>>

export const jiraDocuments: Documents = {
  '/rest/api/2/issue/OPS-12': {
    expand: 'renderedFields,names,schema',
    id: '10002',
    self: 'https://jira.example.org/rest/api/2/issue/10002',
    key: 'OPS-12',
    fields: {
      summary: 'Raise the tide gate',
      status: { name: 'Done', id: '10001', statusCategory: { key: 'done' } },
      priority: { name: 'Highest', id: '1' },
      issuetype: { name: 'Story', subtask: false },
      assignee: { displayName: 'Ana Costa', active: true },
      resolution: { name: 'Done' },
      updated: '2026-01-01T10:00:00.000+0000',
    },
  },
  '/rest/api/2/issue/OPS-13': {
    id: '10003',
    key: 'OPS-13',
    fields: {
      summary: 'Grease the hinges',
      status: { name: 'In Progress', id: '3' },
      priority: null,
      issuetype: { name: 'Task', subtask: false },
      assignee: null,
      resolution: null,
      updated: '2026-01-01T11:00:00.000+0000',
    },
  },
}

export const servicenowDocuments: Documents = {
  '/api/now/table/change_request': {
    result: [
      {
        sys_id: 'c83c5e5347c12200e0ef563dbb9a7190',
        number: 'CHG0030001',
        state: 'Scheduled',
        approval: 'Approved',
        risk: 'Moderate',
        priority: '3 - Moderate',
        type: 'Normal',
        short_description: 'Roll out shop 1.4',
        assigned_to: 'Bo Lind',
        start_date: '2026-01-02 08:00:00',
        end_date: '',
      },
    ],
  },
}

export const jenkinsDocuments: Documents = {
  '/job/shop team/job/build/118/api/json': {
    _class: 'hudson.model.FreeStyleBuild',
    artifacts: [{ fileName: 'shop.tar.gz', relativePath: 'target/shop.tar.gz' }],
    building: false,
    duration: 63_210,
    fullDisplayName: 'shop team » build #118',
    id: '118',
    number: 118,
    result: 'SUCCESS',
    timestamp: 1_767_225_600_000,
    url: 'https://jenkins.example.org/job/shop%20team/job/build/118/',
  },
  '/job/build/lastBuild/api/json': {
    _class: 'org.jenkinsci.plugins.workflow.job.WorkflowRun',
    artifacts: [],
    building: true,
    duration: 0,
    fullDisplayName: 'build #7',
    id: '7',
    number: 7,
    result: null,
    timestamp: 1_767_225_600_000,
    url: 'https://jenkins.example.org/job/build/7/',
  },
}

export const sonarqubeDocuments: Documents = {
  '/api/qualitygates/project_status?projectKey=org.example:shop': {
    projectStatus: {
      status: 'ERROR',
      conditions: [
        {
          status: 'ERROR',
          metricKey: 'new_coverage',
          comparator: 'LT',
          errorThreshold: '80',
          actualValue: '71.2',
        },
        { status: 'OK', metricKey: 'new_bugs', comparator: 'GT', errorThreshold: '0', actualValue: '0' },
      ],
      ignoredConditions: false,
    },
  },
  '/api/qualitygates/project_status?projectKey=fresh': { projectStatus: { status: 'NONE', conditions: [] } },
  '/api/measures/component?component=org.example:shop&metricKeys=bugs,reliability_rating,security_rating,sqale_rating,vulnerabilities,code_smells,coverage,duplicated_lines_density':
    {
      component: {
        key: 'org.example:shop',
        name: 'Shop',
        qualifier: 'TRK',
        measures: [
          { metric: 'reliability_rating', value: '5.0', bestValue: false },
          { metric: 'security_rating', value: '1.0', bestValue: true },
          { metric: 'sqale_rating', value: '2.0' },
          { metric: 'bugs', value: '3', bestValue: false },
          { metric: 'vulnerabilities', value: '0', bestValue: true },
          { metric: 'code_smells', value: '41' },
          { metric: 'coverage', value: '81.5' },
        ],
      },
    },
  '/api/measures/component': { component: { key: 'fresh', name: 'Fresh', qualifier: 'TRK', measures: [] } },
}

const GITHUB_COMMIT = `/repos/tide/shop/commits/${COMMIT}`
export const githubDocuments: Documents = {
  [GITHUB_COMMIT]: {
    sha: COMMIT,
    html_url: `https://github.com/tide/shop/commit/${COMMIT}`,
    commit: {
      message: 'Raise the gate\n\nIt was too low.',
      author: { name: 'Ana Costa', email: 'ana@example.org', date: '2026-01-01T09:00:00Z' },
      verification: { verified: true, reason: 'valid' },
    },
  },
  [`${GITHUB_COMMIT}/status`]: {
    state: 'failure',
    total_count: 2,
    statuses: [
      { context: 'build', state: 'success' },
      { context: 'lint', state: 'error' },
    ],
  },
  [`${GITHUB_COMMIT}/check-runs`]: {
    total_count: 3,
    check_runs: [
      { name: 'unit', status: 'completed', conclusion: 'success' },
      { name: 'docs', status: 'completed', conclusion: 'skipped' },
      { name: 'e2e', status: 'in_progress', conclusion: null },
    ],
  },
  '/repos/tide/shop/pulls/17': {
    number: 17,
    state: 'closed',
    merged: true,
    draft: false,
    mergeable_state: 'unknown',
    merge_commit_sha: 'e5bd3914e2e596debea16f433f57875b5b90bcd6',
    title: 'Raise the gate',
    user: { login: 'ana' },
    head: { ref: 'raise', sha: COMMIT },
    base: { ref: 'main', sha: COMMIT },
    html_url: 'https://github.com/tide/shop/pull/17',
  },
}

export const gitlabDocuments: Documents = {
  [`/api/v4/projects/tide/harbour/shop/repository/commits/${COMMIT}`]: {
    id: COMMIT,
    short_id: COMMIT.slice(0, 11),
    title: 'Raise the gate',
    message: 'Raise the gate\n',
    author_name: 'Ana Costa',
    committed_date: '2026-01-01T09:00:00.000+00:00',
    status: 'success',
    web_url: `https://gitlab.example.org/tide/harbour/shop/-/commit/${COMMIT}`,
  },
  '/api/v4/projects/tide/harbour/shop/merge_requests/5': {
    id: 1,
    iid: 5,
    title: 'Raise the gate',
    state: 'opened',
    draft: false,
    detailed_merge_status: 'not_approved',
    author: { id: 1, username: 'ana' },
    source_branch: 'raise',
    target_branch: 'main',
    sha: COMMIT,
    merge_commit_sha: null,
    head_pipeline: { id: 3, status: 'running' },
    web_url: 'https://gitlab.example.org/tide/harbour/shop/-/merge_requests/5',
  },
}

const CLOUD_COMMIT = `/2.0/repositories/tide/shop/commit/${COMMIT}`
export const bitbucketCloudDocuments: Documents = {
  [CLOUD_COMMIT]: {
    type: 'commit',
    hash: COMMIT,
    date: '2026-01-01T09:00:00+00:00',
    message: 'Raise the gate\n',
    author: { type: 'author', raw: 'Ana Costa <ana@example.org>' },
    links: { html: { href: `https://bitbucket.org/tide/shop/commits/${COMMIT}` } },
  },
  [`${CLOUD_COMMIT}/statuses`]: {
    size: 2,
    page: 1,
    pagelen: 100,
    values: [
      { type: 'build', key: 'UNIT', name: 'unit', state: 'SUCCESSFUL', url: 'https://ci.example.org/1' },
      { type: 'build', key: 'DEPLOY', name: 'deploy', state: 'INPROGRESS', url: 'https://ci.example.org/2' },
    ],
  },
  '/2.0/repositories/tide/shop/pullrequests/9': {
    id: 9,
    title: 'Raise the gate',
    state: 'OPEN',
    draft: false,
    author: { display_name: 'Ana Costa' },
    source: { branch: { name: 'raise' } },
    destination: { branch: { name: 'main' } },
    merge_commit: null,
    participants: [{ approved: true }, { approved: false }],
    links: { html: { href: 'https://bitbucket.org/tide/shop/pull-requests/9' } },
  },
}

const SERVER_REPOSITORY = '/git/rest/api/1.0/projects/TIDE/repos/shop'
export const bitbucketServerDocuments: Documents = {
  [`${SERVER_REPOSITORY}/commits/${COMMIT}`]: {
    id: COMMIT,
    displayId: COMMIT.slice(0, 11),
    message: 'Raise the gate',
    author: { name: 'ana', emailAddress: 'ana@example.org' },
    committerTimestamp: 1_767_225_600_000,
  },
  [`/git/rest/build-status/1.0/commits/${COMMIT}`]: {
    size: 2,
    limit: 100,
    isLastPage: true,
    values: [
      { state: 'SUCCESSFUL', key: 'BUILD', name: 'build', url: 'https://ci.example.org/1' },
      { state: 'FAILED', key: 'UNIT', name: 'unit', url: 'https://ci.example.org/2' },
    ],
  },
  [`${SERVER_REPOSITORY}/pull-requests/9`]: {
    id: 9,
    title: 'Raise the gate',
    state: 'MERGED',
    author: { user: { name: 'ana', displayName: 'Ana Costa' } },
    fromRef: { id: 'refs/heads/raise', displayId: 'raise', latestCommit: COMMIT },
    toRef: { id: 'refs/heads/main', displayId: 'main' },
    reviewers: [{ approved: true }, { approved: true }],
    links: { self: [{ href: 'https://git.example.org/projects/TIDE/repos/shop/pull-requests/9' }] },
  },
}
