-- Asks Gatehouse about each request before HAProxy forwards it. Needs HAProxy 2.6 or later with Lua, as built by
-- Debian, and nothing else.
--
--   setenv GATEHOUSE_URL http://127.0.0.1:8080/api/auth/verify
--   lua-load /etc/haproxy/gatehouse.lua
--   http-request lua.gatehouse
--
-- A request that is not clearly allowed is refused.

local url = os.getenv("GATEHOUSE_URL") or "http://127.0.0.1:8080/api/auth/verify"

-- The fields that are sent to Gatehouse. All others of the client are not, in particular its forwarded fields, with
-- which it could choose the request that is decided on.
local carried = {
    "authorization", "cookie", "session-id", "session-secret", "origin", "sec-fetch-site",
    "sec-websocket-key", "sec-websocket-protocol", "sec-websocket-version",
}

local function refuse(txn, status, answer)
    local headers = { ["cache-control"] = { "no-store" } }
    if answer then
        for _, name in ipairs({ "content-type", "www-authenticate" }) do
            headers[name] = answer.headers[name]
        end
    end
    local reply = txn:reply({ status = status })
    for name, values in pairs(headers) do
        for _, value in pairs(values) do reply:add_header(name, value) end
    end
    reply:set_body(answer and answer.body or "")
    txn:done(reply)
end

core.register_action("gatehouse", { "http-req" }, function(txn)
    local sent = {}
    local received = txn.http:req_get_headers()
    for _, name in ipairs(carried) do
        -- HAProxy counts the values of a field from 0.
        local values = {}
        for _, value in pairs(received[name] or {}) do values[#values + 1] = value end
        if #values > 0 then sent[name] = values end
    end
    -- Only Gatehouse may set identity fields, in every spelling that a service might accept.
    for name in pairs(received) do
        if name:gsub("[._]", "-"):find("^x%-gatehouse%-") then txn.http:req_del_header(name) end
    end
    sent["x-forwarded-method"] = { txn.sf:method() }
    sent["x-forwarded-uri"] = { txn.sf:pathq() }
    sent["x-forwarded-host"] = { txn.sf:req_hdr("host") }
    sent["x-forwarded-for"] = { txn.sf:src() }
    local tls = txn.f:ssl_fc()
    sent["x-forwarded-proto"] = { (tls == 1 or tls == true) and "https" or "http" }

    local answer = core.httpclient():get({ url = url, headers = sent, timeout = 5000 })
    if not answer or not answer.headers then return refuse(txn, 503) end
    if answer.status == 401 or answer.status == 403 then return refuse(txn, answer.status, answer) end
    if answer.status ~= 200 then return refuse(txn, 503) end
    for name, values in pairs(answer.headers) do
        if name:find("^x%-gatehouse%-") then
            for _, value in pairs(values) do txn.http:req_set_header(name, value) end
        end
    end
end, 0)
