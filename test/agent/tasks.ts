/** Tool call of a scripted model. */
export interface Call {
  readonly name: 'Read' | 'Write' | 'Edit' | 'Bash'
  readonly input: Readonly<Record<string, string>>
}

/** Input of a step: the folder, and the results of earlier calls as the model received them, with pointers resolved. */
export interface Known {
  readonly root: string
  /** The text of the nth result, from 0; without the line numbers of `Read`. */
  text(nth: number): string
}

/** Task of a scripted model: the initial files, and its tool calls, which write only text that earlier results contain. */
export interface Task {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly steps: readonly ((known: Known) => Call)[]
}

type Step = Task['steps'][number]
type Text = (known: Known) => string

export const read =
  (file: string): Step =>
  ({ root }) => ({ name: 'Read', input: { file_path: `${root}/${file}` } })
export const write =
  (file: string, content: Text): Step =>
  (known) => ({
    name: 'Write',
    input: { file_path: `${known.root}/${file}`, content: content(known) },
  })
export const bash =
  (command: string): Step =>
  ({ root }) => ({ name: 'Bash', input: { command: `cd ${root} && ${command}` } })
export const bashOf =
  (command: Text): Step =>
  (known) =>
    bash(command(known))(known)

const COLOUR = /\u001b\[\d+m/g

/** Edits the line with `mark` in the nth result; the edit quotes the line exactly. */
export const edit =
  (file: string, nth: number, mark: string, to: (line: string) => string): Step =>
  (known) => {
    const line = lineWith(known.text(nth), mark)
    return { name: 'Edit', input: { file_path: `${known.root}/${file}`, old_string: line, new_string: to(line) } }
  }

/** Returns the line with `mark`. Throws when the model did not receive it. */
export function lineWith(text: string, mark: string): string {
  const line = text.split('\n').find((one) => one.includes(mark))
  if (line === undefined) throw new Error(`Expected a line with \`${mark}\`, got ${JSON.stringify(text.slice(0, 300))}`)
  return line
}

const block = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')
const CODE = `${block(60, (index) => `export function step${index}(input: number): number {\n  return input * ${index} + ${index % 7}\n}`)}\n`
const LAID_OUT = `{\n${block(40, (index) => `    "key${index}":   { "value":  ${index}.0,   "on": true  },`)}\n    "last":   1e5\n}\n`
const YAML = `services:\n${block(20, (index) => `  service${index}:\n    retries: 3\n    tags:\n      - same\n      - same\n      - same\n      - same`)}\n`
const TABLE = `${block(50, (index) => `${1000 + index * (1 + (index % 3))} | row ${index} | open   `)}\n`
const REPORT = String.raw`const fails = require('fs').readFileSync('value.js', 'utf8').includes('41');
for (let i = 0; i < 60; i++) console.log((fails && i === 30 ? '\x1b[31m✖' : '\x1b[32m✔') + '\x1b[0m does thing number ' + i + ' of the suite  ');
console.log(fails ? '1 failed of 60' : '60 passed of 60')`

/** Tasks with texts whose layout, repetition or order matters. */
export const TASKS: readonly Task[] = [
  {
    name: 'edit-code',
    files: { 'src/steps.ts': CODE },
    steps: [
      read('src/steps.ts'),
      edit('src/steps.ts', 0, 'input * 30 +', (line) => line.replace('30', '31')),
      read('src/steps.ts'),
    ],
  },
  {
    name: 'edit-after-second-read',
    files: { 'steps.ts': CODE },
    steps: [
      read('steps.ts'),
      read('steps.ts'),
      edit('steps.ts', 1, 'step44', (line) => line.replace('step44', 'step_44')),
    ],
  },
  {
    name: 'copy-what-was-read-twice',
    files: { 'a.ts': CODE },
    steps: [
      read('a.ts'),
      bash('cat a.ts'),
      write('b.ts', ({ text }) => `${text(1).trimEnd()}\n`),
      bash('cmp a.ts b.ts && echo same > same.txt'),
    ],
  },
  {
    name: 'laid-out-json',
    files: { 'config.json': LAID_OUT },
    steps: [
      bash('cat config.json'),
      read('config.json'),
      edit('config.json', 0, '"key17"', (line) => line.replace('17.0', '18.0')),
    ],
  },
  {
    name: 'json-by-git',
    files: { 'config.json': LAID_OUT },
    steps: [
      bash(
        'git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm one && git show HEAD:config.json',
      ),
      read('config.json'),
      edit('config.json', 0, '"key3"', (line) => line.replace('true', 'false')),
      bash('git diff > change.patch; git checkout -q config.json; cat change.patch'),
      write('seen.patch', ({ text }) => `${text(3).trimEnd()}\n`),
      bash('git apply seen.patch && rm -rf .git'),
    ],
  },
  {
    name: 'repeated-yaml',
    files: { 'compose.yaml': YAML },
    steps: [
      bash('sed -n 1,200p compose.yaml'),
      write('copy.yaml', ({ text }) => `${text(0).trimEnd()}\n`),
      bash('cmp compose.yaml copy.yaml'),
    ],
  },
  {
    name: 'trailing-spaces',
    files: { 'notes.md': `${block(40, (index) => `line ${index} breaks here  `)}\n` },
    steps: [read('notes.md'), edit('notes.md', 0, 'line 7 ', (line) => `${line}and here  `)],
  },
  {
    name: 'tabs',
    files: { Makefile: `${block(30, (index) => `part${index}:\n\techo ${index}\t# tab`)}\n` },
    steps: [
      bash('cat Makefile'),
      read('Makefile'),
      edit('Makefile', 0, 'echo 21\t', (line) => line.replace('21', 'twenty-one')),
    ],
  },
  {
    name: 'ids-of-a-table',
    files: { 'table.txt': TABLE },
    steps: [
      bash('cat table.txt'),
      read('table.txt'),
      edit('table.txt', 0, '| row 9 |', (line) => line.replace('open', 'done')),
    ],
  },
  {
    name: 'hours-of-a-log',
    files: { 'app.log': `${block(48, (index) => `${index % 24}:${10 + index} job ${index} done`)}\n` },
    steps: [bash('tail -n 48 app.log'), write('job-30.txt', ({ text }) => `${lineWith(text(0), 'job 30 ')}\n`)],
  },
  {
    name: 'pass-fail-pass',
    files: { 'test.js': REPORT, 'value.js': 'module.exports = 42\n' },
    steps: [
      bash('node test.js'),
      bash('echo "module.exports = 41" > value.js; node test.js'),
      bash('echo "module.exports = 42" > value.js; node test.js'),
      write('runs.txt', ({ text }) => `${[0, 1, 2].map((nth) => lineWith(text(nth), ' of 60')).join('\n')}\n`),
    ],
  },
  {
    name: 'failing-line',
    files: { 'test.js': REPORT, 'value.js': 'module.exports = 41\n' },
    steps: [
      bash('node test.js'),
      write('failing.txt', ({ text }) => `${lineWith(text(0), '✖').replace(COLOUR, '').trimEnd()}\n`),
    ],
  },
  {
    name: 'overwritten-line',
    files: { 'migrate.js': "process.stdout.write('ERROR migration 0042 failed: no such table\\rok\\n')\n" },
    steps: [
      bash('node migrate.js'),
      write('verdict.txt', ({ text }) => (text(0).includes('0042 failed') ? 'failed\n' : 'ok\n')),
    ],
  },
  {
    name: 'windows-lines',
    files: { 'win.txt': `${block(40, (index) => `value ${index}\r`)}\n` },
    steps: [
      bash('cat win.txt'),
      bashOf(
        ({ text }) =>
          `echo ${
            text(0)
              .split('\n')
              .filter((line) => line.startsWith('value')).length
          } > count.txt`,
      ),
    ],
  },
  {
    name: 'unicode',
    files: { 'words.txt': `${block(40, (index) => `日本語 ${index} – “quoted” … 〃`)}\n` },
    steps: [read('words.txt'), edit('words.txt', 0, '日本語 12 ', (line) => line.replace('〃', '✓'))],
  },
  {
    name: 'write-then-read',
    files: {},
    steps: [
      write('new.ts', () => CODE),
      read('new.ts'),
      edit('new.ts', 1, 'step59', (line) => line.replace('step59', 'stepLast')),
    ],
  },
  {
    name: 'shifted-lines',
    files: { 'steps.ts': CODE },
    steps: [
      read('steps.ts'),
      edit('steps.ts', 0, 'step0(', (line) => `// new\n// lines\n${line}`),
      read('steps.ts'),
      edit('steps.ts', 2, 'input * 50 +', (line) => line.replace('50', '500')),
      bash('sed -n 100,140p steps.ts'),
      write('part.ts', ({ text }) => `${text(4).trimEnd()}\n`),
    ],
  },
  {
    name: 'two-files-alike',
    files: { 'one.ts': CODE, 'two.ts': CODE.replace('input * 20 +', 'input * 2000 +') },
    steps: [
      read('one.ts'),
      read('two.ts'),
      edit('two.ts', 1, 'input * 2000 +', (line) => line.replace('2000', '20')),
      bash('cmp one.ts two.ts && echo alike > alike.txt'),
    ],
  },
  {
    name: 'list-and-move',
    files: Object.fromEntries(Array.from({ length: 24 }, (_, index) => [`old/file ${index}.txt`, `${index}\n`])),
    steps: [
      bash('ls -l old'),
      bashOf(({ text }) => {
        const names = [...text(0).matchAll(/file \d+\.txt/g)].map(([name]) => name)
        return `mkdir -p new && ${names.map((name) => `mv 'old/${name}' 'new/${name}'`).join(' && ')}`
      }),
      bash('ls new | wc -l > count.txt'),
    ],
  },
  {
    name: 'rows-of-a-query',
    files: {
      'query.js':
        'console.log(JSON.stringify({ rows: Array.from({ length: 40 }, (_, i) => ({ id: i, name: "row " + i, size: i * 1.5 })) }, null, 4))\n',
    },
    steps: [
      bash('node query.js'),
      bash('node query.js'),
      write('ids.txt', ({ text }) => `${[...text(1).matchAll(/"id": ?(\d+)/g)].map(([, id]) => id).join(' ')}\n`),
    ],
  },
]
