import type { ToolName } from './make-tool-connector.js'

/** An account that a form offers. */
export interface OfferedAccount {
  readonly name: string
  readonly type: ToolName
  /** Connector type in triggers, if it differs from the tool's. */
  readonly connectorType?: string | undefined
  readonly url: string
}

/** A parameter in a form. Values of an `array` are separated by commas. */
export interface FormField {
  readonly name: string
  readonly label: string
  readonly helpText: string
  readonly type: 'string' | 'array'
}

/** Form of a connector type. */
export interface ConnectorForm {
  readonly label: string
  readonly helpText: string
  readonly fields: readonly FormField[]
}

const text = (name: string, label: string, helpText: string): FormField => ({
  ...{ name, label, helpText },
  type: 'string',
})
const list = (name: string, label: string, helpText: string): FormField => ({
  ...{ name, label, helpText: `${helpText}; several with commas` },
  type: 'array',
})
const REPOSITORY = 'With its owner: example/shop'
const COMMIT = list('commitId', 'Commits', 'The hash of a commit')

const FORMS: Readonly<Record<Exclude<ToolName, 'http'>, ConnectorForm>> = {
  jira: {
    label: 'Jira',
    helpText: 'Status, priority and assignee of issues',
    fields: [list('jira_ticket_no', 'Issues', 'The key of an issue: OPS-12')],
  },
  servicenow: {
    label: 'ServiceNow',
    helpText: 'State and approval of change requests',
    fields: [list('number', 'Changes', 'The number of a change request: CHG0030001')],
  },
  jenkins: {
    label: 'Jenkins',
    helpText: 'The result of builds',
    fields: [
      text('job', 'Job', 'The name of the job, after its folders: shop/build'),
      list('buildId', 'Builds', 'The number of a build, or lastSuccessfulBuild'),
      list('artifact', 'Artifacts', 'The name of a file that the build must have made; may be empty'),
    ],
  },
  sonarqube: {
    label: 'SonarQube',
    helpText: 'Quality gate, ratings and coverage of projects',
    fields: [list('projectKey', 'Projects', 'The key of a project: org.example:shop')],
  },
  github: {
    label: 'GitHub',
    helpText: 'Checks of commits, and pull requests',
    fields: [
      text('repo', 'Repository', REPOSITORY),
      COMMIT,
      list('pullRequest', 'Pull requests', 'The number of a pull request'),
    ],
  },
  gitlab: {
    label: 'GitLab',
    helpText: 'Pipelines of commits, and merge requests',
    fields: [
      text('repo', 'Project', REPOSITORY),
      COMMIT,
      list('mergeRequest', 'Merge requests', 'The number of a merge request'),
    ],
  },
  bitbucket: {
    label: 'Bitbucket',
    helpText: 'Builds of commits, and pull requests',
    fields: [
      text('repositoryName', 'Repository', REPOSITORY),
      COMMIT,
      list('pullRequest', 'Pull requests', 'The number of a pull request'),
    ],
  },
}
const TYPES: Readonly<Record<ToolName, string>> = {
  ...{ jira: 'JIRA', servicenow: 'SERVICENOW', jenkins: 'JENKINS', sonarqube: 'SONARQUBE' },
  ...{ github: 'GITHUB', gitlab: 'GITLAB', bitbucket: 'BITBUCKET', http: 'HTTP' },
}

/** Connector type of an account in triggers, in capitals. */
export function connectorTypeOf({ type, connectorType }: OfferedAccount): string {
  return connectorType?.toUpperCase() ?? TYPES[type]
}

/** Forms by connector type. The first of several accounts of a type counts. */
export function connectorForms(accounts: readonly OfferedAccount[]): ReadonlyMap<string, ConnectorForm> {
  const forms = new Map<string, ConnectorForm>()
  for (const account of accounts) {
    const type = connectorTypeOf(account)
    if (!forms.has(type)) forms.set(type, formOf(account, type))
  }
  return forms
}

function formOf({ type, url }: OfferedAccount, connectorType: string): ConnectorForm {
  if (type !== 'http') return FORMS[type]
  const names = [...url.matchAll(/\{([A-Za-z0-9_.-]+)\}/g)].map(([, name = '']) => name)
  const helpText = `What ${connectorType} answers`
  return {
    ...{ label: connectorType, helpText },
    fields: [...new Set(names)].map((name) => list(name, name, `The ${name} to look up`)),
  }
}
