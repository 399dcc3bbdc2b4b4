// SPDX-License-Identifier: Apache-2.0
//! A plugin in Rust: the tables of <patchbay/plugin.h>, written down as Rust has them, and two tools.
//!
//! `greet` answers at once, on the hub's loop; `count` counts words on a thread of its own and reports progress. A panic in a
//! tool fails its call, as an exception does in C++. Build it with any rustc from 1.63 on, without crates:
//!
//!     rustc --edition 2021 --crate-type cdylib -O -o hello_rust.so hello_rust.rs

use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Mutex;
use std::thread::{spawn, JoinHandle};

/// The part of plugin.h that this plugin uses, member for member. Tables only grow at their end, so what is left out behind the
/// last member may stay out; `struct_size` says how much there is.
mod abi {
    use super::c_void;

    pub const MAGIC: u32 = 0x5941_4250;
    pub const VERSION: u32 = 1 << 16; // 1.0
    pub const OK: i32 = 0;
    pub const RESULT: i32 = 0;
    pub const INVALID_INPUT: i32 = 3;
    pub const FAILED: i32 = 5;
    pub const LOG_INFO: i32 = 1;

    /// UTF-8, borrowed for the call that it is handed to.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Str {
        pub ptr: *const u8,
        pub len: usize,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Call {
        pub id: u64,
    }

    #[repr(C)]
    pub struct Request {
        pub struct_size: u32,
        pub flags: u32,
        pub deadline_ms: u64,
        pub tool: Str,
        pub args_json: Str,
    }

    #[repr(C)]
    pub struct HostApi {
        pub struct_size: u32,
        pub abi: u32,
        pub log: extern "C" fn(*mut c_void, i32, Str),
        pub set_tools: extern "C" fn(*mut c_void, Str) -> i32,
        pub notify: extern "C" fn(*mut c_void, Call, Str) -> i32,
        pub finish: extern "C" fn(*mut c_void, Call, i32, Str) -> i32,
    }

    #[repr(C)]
    pub struct Plugin {
        pub magic: u32,
        pub struct_size: u32,
        pub abi: u32,
        pub abi_min: u32,
        pub name: *const u8,
        pub version: *const u8,
        pub description: *const u8,
        pub config_schema_json: *const u8,
        pub flags: u64,
        pub create: extern "C" fn(*const HostApi, *mut c_void, Str, *mut *mut c_void, *mut c_void) -> i32,
        pub call: extern "C" fn(*mut c_void, Call, *const Request),
        pub cancel: Option<extern "C" fn(*mut c_void, Call)>,
        pub destroy: extern "C" fn(*mut c_void),
    }
    unsafe impl Sync for Plugin {} // constant, and so are the texts that it points to

    impl Str {
        pub fn of(text: &str) -> Str {
            Str { ptr: text.as_ptr(), len: text.len() }
        }

        /// # Safety
        /// The hub hands over valid UTF-8, which lives as long as the call that brought it.
        pub unsafe fn as_str<'a>(self) -> &'a str {
            if self.len == 0 {
                return "";
            }
            std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.ptr, self.len))
        }
    }
}

/// The hub's side of this instance. All that is called here may be called from any thread, until destroy() returns.
#[derive(Clone, Copy)]
struct Host {
    api: &'static abi::HostApi,
    host: *mut c_void,
}
unsafe impl Send for Host {}

impl Host {
    fn log(self, text: &str) {
        (self.api.log)(self.host, abi::LOG_INFO, abi::Str::of(text));
    }

    fn finish(self, call: abi::Call, outcome: Result<String, (i32, String)>) {
        let (status, text) = match outcome {
            // `text` is the inside of a JSON string.
            Ok(text) => (abi::RESULT, format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)),
            Err(failure) => failure,
        };
        // Refused only when the call is over: cancelled, or timed out.
        let _ = (self.api.finish)(self.host, call, status, abi::Str::of(&text));
    }

    fn progress(self, call: abi::Call, done: usize, total: usize) {
        let text = format!(r#"{{"progress":{done},"total":{total}}}"#);
        let _ = (self.api.notify)(self.host, call, abi::Str::of(&text));
    }

    /// Run a tool and complete its call, also when it panics: a panic must not cross into C.
    fn run(self, call: abi::Call, tool: impl FnOnce() -> Result<String, (i32, String)>) {
        let outcome = catch_unwind(AssertUnwindSafe(tool)).unwrap_or_else(|panic| {
            let why = panic.downcast_ref::<&str>().map(|text| text.to_string());
            Err((abi::FAILED, why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_string())))
        });
        self.finish(call, outcome);
    }
}

struct Instance {
    host: Host,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The inside of the first string member `key` of a JSON object, with its escapes. Arguments have satisfied the tool's schema:
/// this is no parser (serde_json is a good one), and takes no key that is written with escapes.
fn string_member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let rest = &object[object.find(&format!("\"{key}\""))? + key.len() + 2..];
    let inside = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some(&inside[..end])
}

fn missing(key: &str) -> (i32, String) {
    (abi::INVALID_INPUT, format!("give \"{key}\" as a string"))
}

fn greet(args: &str) -> Result<String, (i32, String)> {
    let name = string_member(args, "name").ok_or_else(|| missing("name"))?;
    assert!(name != "nobody", "nobody is not greeted");
    Ok(format!("Hello, {name}!"))
}

fn count(host: Host, call: abi::Call, args: &str) -> Result<String, (i32, String)> {
    let text = string_member(args, "text").ok_or_else(|| missing("text"))?;
    let total = text.split_whitespace().count();
    for done in 1..=total {
        host.progress(call, done, total);
    }
    Ok(format!("{total} words"))
}

const TOOLS: &str = r#"[
    {"name": "greet", "description": "Greets somebody by name.", "annotations": {"readOnlyHint": true},
     "inputSchema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
    {"name": "count", "description": "Counts the words of a text.", "annotations": {"readOnlyHint": true},
     "inputSchema": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}}]"#;

extern "C" fn create(api: *const abi::HostApi, host: *mut c_void, _config: abi::Str, ret_inst: *mut *mut c_void, _reterr: *mut c_void) -> i32 {
    let host = Host { api: unsafe { &*api }, host };
    let code = (host.api.set_tools)(host.host, abi::Str::of(TOOLS));
    if code == abi::OK {
        host.log("hello from Rust");
        let instance = Box::new(Instance { host, threads: Mutex::new(Vec::new()) });
        unsafe { *ret_inst = Box::into_raw(instance).cast() };
    }
    code
}

extern "C" fn call(inst: *mut c_void, call: abi::Call, request: *const abi::Request) {
    let instance = unsafe { &*inst.cast::<Instance>() };
    let (tool, args) = unsafe { ((*request).tool.as_str(), (*request).args_json.as_str()) };
    let host = instance.host;
    if tool == "greet" {
        host.run(call, || greet(args));
        return;
    }
    let args = args.to_string(); // the span ends with this function
    let thread = spawn(move || host.run(call, || count(host, call, &args)));
    let mut threads = instance.threads.lock().unwrap();
    threads.retain(|thread| !thread.is_finished());
    threads.push(thread);
}

/// No thread may use the hub once this has returned.
extern "C" fn destroy(inst: *mut c_void) {
    let instance = unsafe { Box::from_raw(inst.cast::<Instance>()) };
    for thread in instance.threads.into_inner().unwrap() {
        let _ = thread.join();
    }
}

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static patchbay_plugin_v1: abi::Plugin = abi::Plugin {
    magic: abi::MAGIC,
    struct_size: std::mem::size_of::<abi::Plugin>() as u32,
    abi: abi::VERSION,
    abi_min: abi::VERSION,
    name: b"hello_rust\0".as_ptr(),
    version: b"1.0.0\0".as_ptr(),
    description: b"Greets people, and counts their words.\0".as_ptr(),
    config_schema_json: std::ptr::null(),
    flags: 0,
    create,
    call,
    cancel: None,
    destroy,
};
