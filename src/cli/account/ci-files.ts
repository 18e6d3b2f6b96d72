import { quoteShellWord } from '../../lib/shell-word.ts';

/** CI systems for which `heddle init` writes a pipeline. */
export const ciSystems = ['github', 'gitlab'] as const;

/** Name of a CI system. */
export type CiSystem = (typeof ciSystems)[number];

/**
 * Path of each system's pipeline in a repository, and a function that returns its text. `directory` contains the
 * documents, relative to the top of the repository.
 */
export const ciFiles: Readonly<Record<CiSystem, { readonly path: string; text(directory: string): string }>> = {
  github: { path: '.github/workflows/heddle.yaml', text: githubFile },
  gitlab: { path: '.gitlab-ci.yml', text: gitlabFile },
};

const planTokenHint = `of a service user, created with \`plan_only\`: it may read and plan, but not write`;

/** The package needs only Node, which the runner has, so nothing else is installed and no install script runs. */
const installCommand = `npm install --global --omit=optional --ignore-scripts --no-audit --no-fund "$HEDDLE_PACKAGE"`;

function githubFile(directory: string): string {
  const word = quoteShellWord(directory);
  return `# Every change of the documents is validated, and its plan is shown in the summary of the run. What is on the main branch is
# applied.
#
# The repository needs (Settings, Secrets and variables, Actions):
#
#   HEDDLE_SERVER        a variable: the address of the server
#   HEDDLE_PACKAGE       a variable: where the package of your Heddle is, the file that \`npm pack\` writes: its address, or its
#                        path in this repository
#   HEDDLE_PLAN_TOKEN    a secret: a token ${planTokenHint}
#   HEDDLE_APPLY_TOKEN   a secret of the environment mesh only, which lets the main branch alone use it and may ask for a
#                        reviewer: a token of a service user that may change the account
#
# Pull requests from forks get no secrets, so they are validated and not planned.
name: heddle

on:
  pull_request:
  push:
    branches: [main, master]

permissions:
  contents: read

env:
  HEDDLE_SERVER: \${{ vars.HEDDLE_SERVER }}
  HEDDLE_PACKAGE: \${{ vars.HEDDLE_PACKAGE }}

jobs:
  validate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: "24"
      - run: ${installCommand}
      # Needs no server and no token; shows every problem beside its line.
      - run: |
          heddle validate ${word} --format github
          heddle fmt --check --diff ${word}

  plan:
    if: github.event_name == 'push' || github.event.pull_request.head.repo.full_name == github.repository
    needs: validate
    runs-on: ubuntu-latest
    env:
      HEDDLE_TOKEN: \${{ secrets.HEDDLE_PLAN_TOKEN }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: "24"
      - run: ${installCommand}
      # 0: planned. 3: a guard would stop it, and the plan says which one. Anything else fails here, with the reason.
      - run: |
          code=0
          heddle plan ${word} --format markdown > plan.md || code=$?
          cat plan.md | tee -a "$GITHUB_STEP_SUMMARY"
          [ "$code" = 0 ] || [ "$code" = 3 ]

  apply:
    if: github.event_name == 'push'
    needs: plan
    runs-on: ubuntu-latest
    environment: mesh
    # One at a time, and none is cancelled half-way through.
    concurrency:
      group: mesh
      cancel-in-progress: false
    env:
      HEDDLE_TOKEN: \${{ secrets.HEDDLE_APPLY_TOKEN }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: "24"
      - run: ${installCommand}
      # Exits with 3 when a guard stops the plan: \`heddle approve\` lets the plan that it names through.
      - run: |
          heddle apply ${word} --auto-approve
`;
}

function gitlabFile(directory: string): string {
  const word = quoteShellWord(directory);
  return `# Every change of the documents is validated, and its plan is shown in the log of the job. What is on the default branch is
# applied.
#
# The project needs variables (Settings, CI/CD):
#
#   HEDDLE_SERVER        the address of the server
#   HEDDLE_PACKAGE       where the package of your Heddle is, the file that \`npm pack\` writes: its address, or its path in this
#                        repository
#   HEDDLE_PLAN_TOKEN    masked: a token ${planTokenHint}
#   HEDDLE_APPLY_TOKEN   masked and protected, for the environment mesh: a token of a service user that may change the account
stages: [validate, plan, apply]

default:
  image: node:24-bookworm-slim
  before_script:
    - ${installCommand}

workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH

validate:
  stage: validate
  script:
    # Needs no server and no token. The report shows every problem beside its line, the log lists them all.
    - |
      heddle validate ${word} --format gitlab > validate.json || true
      heddle validate ${word}
      heddle fmt --check --diff ${word}
  artifacts:
    when: always
    reports:
      codequality: validate.json

plan:
  stage: plan
  variables:
    HEDDLE_TOKEN: $HEDDLE_PLAN_TOKEN
  script:
    # 0: planned. 3: a guard would stop it, and the plan says which one. Anything else fails here, with the reason.
    - |
      code=0
      heddle plan ${word} || code=$?
      [ "$code" = 0 ] || [ "$code" = 3 ]

apply:
  stage: apply
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  environment: mesh
  # One at a time, in the order of their pipelines.
  resource_group: mesh
  variables:
    HEDDLE_TOKEN: $HEDDLE_APPLY_TOKEN
  script:
    # Exits with 3 when a guard stops the plan: \`heddle approve\` lets the plan that it names through.
    - |
      heddle apply ${word} --auto-approve
`;
}
