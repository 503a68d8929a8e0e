"""What the probes of the sandbox run, as Python programs. `facts` says what there is on the machine to be found.

A program prints "held" if the system refused what it tried, and what it got if not.
"""

from __future__ import annotations

PRELUDE = """
import ctypes, errno, json, os, signal, socket, stat, sys, time
libc = ctypes.CDLL(None, use_errno=True)
facts = json.load(open("facts.json")) if os.path.exists("facts.json") else {}
class Open(Exception): pass
def call(result):
    if result == -1: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def refused(*attempts):
    said = []
    for attempt in attempts:
        try: got = attempt()
        except OSError as error: said.append(type(error).__name__ + " " + str(error)[:40])
        else: print("OPEN:", got); sys.exit(0)
    print("held:", said[0] if said else "")
def nothing(what):
    print("OPEN: %r" % (what,) if what else "held: nothing there")
def reach(family, address):
    s = socket.socket(family); s.settimeout(0.3); s.connect(address); return "connected"
def put(path, text="x"):
    with open(path, "w") as file: file.write(text)
    return "written"
def find(match):
    for place, folders, files in os.walk("/"):
        folders[:] = [] if place.startswith(("/usr", "/proc/sys")) else folders
        for name in files:
            try:
                if not stat.S_ISREG(os.stat(os.path.join(place, name)).st_mode): continue
                with open(os.path.join(place, name), "rb") as file: text = file.read(100000)
            except OSError: continue
            if match in text: return os.path.join(place, name)
"""

NETWORK = {
    "a server on this machine": 'refused(lambda: reach(socket.AF_INET, ("127.0.0.1", facts["port"])))',
    "a server elsewhere": 'refused(lambda: reach(socket.AF_INET, ("1.1.1.1", 80)),'
    ' lambda: reach(socket.AF_INET6, ("2606:4700:4700::1111", 80)))',
    "the name of a server": 'refused(lambda: socket.getaddrinfo("example.com", 80))',
    "an abstract socket": 'refused(lambda: reach(socket.AF_UNIX, "\\0" + facts["abstract"]))',
    "a socket like Docker's": 'refused(lambda: reach(socket.AF_UNIX, facts["docker"]),'
    ' lambda: reach(socket.AF_UNIX, "/var/run/docker.sock"))',
}
READING = {
    "the home": 'refused(lambda: os.listdir(facts["home"]), lambda: os.listdir("/home"), lambda: os.listdir("/root"),'
    ' lambda: open(facts["secret"]).read())',
    "/etc/shadow": 'refused(lambda: open("/etc/shadow").read())',
    "a link that leads out": 'os.symlink(facts["secret"], "link"); refused(lambda: open("link").read(),'
    ' lambda: open("/proc/self/root" + facts["secret"]).read())',
    "a hard link": 'refused(lambda: os.link(facts["secret"], "hard"), lambda: os.link("/usr/bin/env", "hard"))',
    "the root of other processes": "nothing([pid for pid in os.listdir('/proc') if pid.isdigit() and"
    " os.path.exists('/proc/%s/root%s' % (pid, facts['secret']))])",
    "the environment of other processes": "nothing(find(b'sk-ant-' + b'never-to-be-seen'))",
    "other processes": "nothing([pid for pid in os.listdir('/proc') if pid.isdigit() and int(pid) > 20])",
    "kill": "refused(lambda: os.kill(facts['process'], 9))",
    "ptrace": "refused(lambda: call(libc.ptrace(16, facts['process'], 0, 0)), lambda: call(libc.ptrace(0, 0, 0, 0)))",
}
WRITING = {
    "a file of the machine": "refused(lambda: put(facts['folder'] + '/new'), lambda: put(facts['secret']))",
    "/usr": "refused(lambda: put('/usr/new'), lambda: put('/usr/local/bin/new'),"
    " lambda: os.chmod('/usr/bin/env', 0o777))",
    "/": "refused(lambda: put('/new'), lambda: os.mkdir('/home'), lambda: put('/dev/new'))",
    "/etc": "refused(lambda: put('/etc/new'), lambda: put('/etc/passwd'), lambda: os.remove('/etc/hosts'))",
    "/proc/sys": "refused(lambda: put('/proc/sys/kernel/hostname'), lambda: put('/proc/sys/kernel/core_pattern'))",
    "sysrq": "refused(lambda: put('/proc/sysrq-trigger'))",
    "mknod": "refused(lambda: os.mknod('disk', stat.S_IFBLK | 0o666, os.makedev(8, 0)),"
    " lambda: os.mknod('mem', stat.S_IFCHR | 0o666, os.makedev(1, 1)))",
    "mount": "refused(lambda: call(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)),"
    " lambda: call(libc.umount2(b'/proc', 2)), lambda: call(libc.chroot(b'/tmp')))",
    "another user": "assert 'NoNewPrivs:\\t1' in open('/proc/self/status').read(); refused(lambda: os.setuid(0),"
    " lambda: os.setgid(0), lambda: os.setgroups([0]))",
    "namespaces of its own": "refused(lambda: call(libc.unshare(0x10000000)), lambda: call(libc.unshare(0x20000)),"
    " lambda: call(libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)))",
    "typing into the terminal": "import fcntl, pty; a, b = pty.openpty();"
    " refused(lambda: fcntl.ioctl(b, 0x5412, b'x'), lambda: os.open('/dev/tty', os.O_RDWR))",
}
LOOP = "while True: pass"
IGNORE = "for n in range(1, 32):\n  if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(1)"
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)
        while True: time.sleep(1)
    os._exit(0)
os.wait(); print("held: left one behind")
"""
MUCH = "piece = b'x' * 1_000_000\nfor _ in range(2000): os.write(1, piece[os.write(1, piece):])"
ENDLESS = "while True: os.write(1, b'x' * 65536)"
FILL = """
done = 0
for place in ("/job", "/tmp"):
    with open(place + "/large", "wb", buffering=0) as file:
        try:
            for _ in range(1000): file.write(b"x" * 500_000); done += 1
        except OSError as error: assert error.errno in (errno.ENOSPC, errno.EFBIG), error
print(done // 2)
"""
FILL_SHM = FILL.replace('("/job", "/tmp")', '("/dev/shm",)')
FORKS = """
count = 1
def spread():
    global count
    while True:
        try: child = os.fork()
        except OSError: return
        if child == 0: time.sleep(60)
        count += 1
        if count > 1000: return
spread(); print(count)
"""
MEMORY = "held = []\ntry:\n  for _ in range(100): held.append(b'x' * 10_000_000)\nexcept MemoryError: print('refused')"
CHILDREN = """
for _ in range(8):
    if os.fork() == 0:
        block = b"x" * SIZE; time.sleep(60)
time.sleep(5); print("OPEN")
"""
COUNT = "print('OPEN: %d' % len(os.listdir('f')))"
STRANGE = (
    "a\nb", "\u202etxt.py", "/".join(["d" * 250] * 15) + "/" + "e" * 200, "-rf", " ", "\udce9", "x" * 255,
)  # fmt: skip
NAMES = f"nothing([name for name in {STRANGE!r} if not os.path.isfile(name)])"
LINE = "sys.stdout.write('x' * 100_000)"
CRASH = "os.kill(os.getpid(), signal.SIGSEGV)"
STOP = "os.kill(os.getpid(), signal.SIGSTOP)"

# ---- beyond what was promised ----

EMPTY_FILES = "for n in range(400_000): open('/job/%d' % n, 'w').close()\nprint('OPEN')"
FIRST_PROCESS = """
value = ctypes.c_int()
for number in (9, 0, 15): libc.prctl(1, number); libc.prctl(2, ctypes.byref(value))
maps = open("/proc/1/maps").read().split("-")[0]
print("held: dies with us" if value.value == 9 else "OPEN: %d" % value.value)
"""
KERNEL = """
def ask(number, *words): return lambda: call(libc.syscall(number, *words))
refused(ask(250, 0, -3, 0), ask(248, b"user", b"a", b"b", 1, -3), ask(321, 0, 0, 0), ask(298, 0, 0, 0, 0, 0),
    ask(425, 1, 0), ask(323, 0), ask(319, b"a", 0), ask(435, 0, 0), ask(29, 0, 4096, 0o1600), ask(64, 0, 9, 0o1600),
    ask(68, 0, 0o1600), ask(310, os.getppid(), 0, 0, 0, 0, 0), ask(438, 3, 0, 0), ask(308, 3, 0),
    lambda: socket.socket(socket.AF_VSOCK), lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET))
"""
EVERYTHING = """
import pwd
print(os.environ, os.uname(), pwd.getpwall(), os.getcwd(), socket.gethostname())
for place, folders, files in os.walk("/"):
    folders[:] = [one for one in folders if place + one not in ("/usr", "/dev", "/sys") and one != "task"]
    folders[:] = [] if place.startswith("/proc/sys/") and place.count("/") > 4 else folders
    for path in [os.path.join(place, name) for name in files + folders]:
        print(path, end=" ")
        try:
            if os.path.islink(path): print(os.readlink(path), end=" ")
            elif not os.path.isdir(path) and path.rpartition("/")[2] not in ("facts.json", "kmsg", "kallsyms"):
                with open(path, "rb") as file: print(file.read(20000).decode("utf-8", "replace"))
        except OSError: pass
print("THE END")
"""
